/// Which packages to list.
struct ListFilter: Equatable {
    var section: String?
    var search: String?
    var limit: Int?
}
