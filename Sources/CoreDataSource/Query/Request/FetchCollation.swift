public import Foundation
internal import RowStore

/// An order of strings that the app defines. Make one and keep it: each instance counts as a different order.
///
/// The store calls it too, on any thread, so it must be a total order that never changes.
public struct FetchCollation: Sendable, Hashable {
    let collation: StringCollation

    /// An order with that comparison, which is called on any thread.
    public init(_ compare: @escaping @Sendable (String, String) -> ComparisonResult) {
        collation = StringCollation { compare($0, $1).rawValue }
    }
}
