internal import Foundation
internal import RowStore

/// The contents that an app requests for a list.
struct ListRequest<Object: ManagedObject>: Sendable {
    let request: FetchRequest<Object>
    let section: SectionPath<Object>?

    /// More rows than any list can have.
    static var mostRows: Int { 1 << 40 }

    init(_ request: FetchRequest<Object>, _ section: PartialKeyPath<Object>?) {
        self.request = request
        self.section = section.map { SectionPath(keyPath: $0) }
    }

    /// The request, after a check that a list supports all of it.
    var checked: FetchRequest<Object> {
        get throws(DataSourceError) {
            try request.checkWindow()
            if request.offset > 0 {
                throw refusal("start at an offset, because every save would shift it. Use a cursor instead.")
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

/// A key path to the value that divides a list into sections.
///
/// Guarded by: nothing, because it never changes. Only a key path with a mutable reference as a subscript index would need
/// more, and sections do not support those.
struct SectionPath<Object: ManagedObject>: @unchecked Sendable {
    let keyPath: PartialKeyPath<Object>
}
