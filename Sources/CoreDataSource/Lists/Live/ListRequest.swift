internal import Foundation
internal import RowStore

/// What an app asks a list to show.
struct ListRequest<Object: ManagedObject>: Sendable {
    private let request: FetchRequest<Object>
    let section: SectionPath<Object>?

    /// More rows than any list has.
    static var mostRows: Int { 1 << 40 }

    init(_ request: FetchRequest<Object>, _ section: PartialKeyPath<Object>?) {
        self.request = request
        self.section = section.map { SectionPath(keyPath: $0) }
    }

    /// The request, of which a list can do everything.
    var checked: FetchRequest<Object> {
        get throws(DataSourceError) {
            try request.checkWindow()
            if request.offset > 0 {
                throw refusal("start at an offset, because every save would shift it. Start it after a cursor.")
            }
            if request.isDistinct {
                throw refusal("be distinct. Fetch values instead.")
            }
            if let limit = request.limit, limit < 1 {
                throw refusal("have a limit below 1. Use a limit of at least 1, or none.")
            }
            return request
        }
    }

    private func refusal(_ what: String) -> DataSourceError {
        DataSourceError(
            .unsupportedQuery, "A list of \(Object.entityName) cannot \(what)", entityName: Object.entityName)
    }
}

extension FetchRequest {
    /// The same request for all objects that match.
    var whole: FetchRequest {
        var request = self
        (request.limit, request.after) = (nil, nil)
        return request
    }
}

/// A key path to what parts a list into sections.
///
/// Guarded by: nothing, as it never changes; it would have to bear a reference as the index of a subscript for that not to
/// be enough, and sections are no place for one.
struct SectionPath<Object: ManagedObject>: @unchecked Sendable {
    let keyPath: PartialKeyPath<Object>
}
