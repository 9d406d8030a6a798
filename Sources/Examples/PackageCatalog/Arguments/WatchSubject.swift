/// What a watch follows.
enum WatchSubject: Equatable {
    /// All packages, or those of a section.
    case packages(section: String?)
    /// What depends on the packages of a name, or on what they provide.
    case dependants(of: String)

    /// The noun for the rows.
    var noun: String {
        switch self {
        case .packages: "packages"
        case .dependants: "dependants"
        }
    }
}
