internal import RowStore

/// One section of a list.
public struct ListSection: Sendable, Hashable {
    /// Identifies a section while it is in the list.
    public struct ID: Sendable, Hashable {
        let value: RowValue
    }

    /// Stays the same while the section is in the list.
    public let id: ID
    /// The value of the section key as a string; empty for nil, and for the only section of a list without a section key.
    public let name: String
    /// The capitalized first letter of the name.
    public var indexTitle: String { CoreDataSource.indexTitle(ofSection: name) }
    /// The indexes of the section's rows, counted over all sections.
    public let range: Range<Int>
    /// How many objects it has.
    public var numberOfObjects: Int { range.count }

    init(_ section: Int, of state: ListState) {
        id = ID(value: state.sectionValue(section))
        name = state.sectionName(section)
        range = state.range(ofSection: section)
    }
}

extension ListState {
    var sections: [ListSection] { (0..<sectionCount).map { ListSection($0, of: self) } }
}
