internal import RowStore

/// One section of a list.
public struct ListSection: Sendable, Hashable {
    /// Identifies a section as long as it is in the list.
    public struct ID: Sendable, Hashable {
        let value: RowValue
    }

    /// Stays the same as long as the section is in the list.
    public let id: ID
    /// The value of the section key as text; empty for nil, and for the one section of a list without a section key.
    public let name: String
    /// The first letter of the name, as a capital.
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
