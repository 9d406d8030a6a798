public import Foundation

#if !canImport(UIKit) && !canImport(AppKit)
/// What UIKit and AppKit add to index paths, for platforms that have neither.
extension IndexPath {
    /// The path of an item in a section, both counted from 0.
    public init(item: Int, section: Int) {
        self.init(indexes: [section, item])
    }

    /// The path of a row in a section, both counted from 0.
    public init(row: Int, section: Int) {
        self.init(item: row, section: section)
    }

    /// The first index; the path must not be empty.
    public var section: Int { self[0] }
    /// The second index; the path must have at least two.
    public var item: Int { self[1] }
    /// The second index; the path must have at least two.
    public var row: Int { self[1] }
}
#endif

extension ListState {
    /// The section and item of an index over all sections.
    func indexPath(_ index: Int) -> IndexPath {
        let section = query.order.section == nil ? 0 : section(ofRow: index)
        return IndexPath(indexes: [section, index - sectionStarts[section]])
    }

    /// The index over all sections; nil if there is no such row.
    func index(_ path: IndexPath) -> Int? {
        guard path.count == 2, path[0] >= 0, path[0] < sectionCount, path[1] >= 0 else { return nil }
        let range = range(ofSection: path[0])
        return path[1] < range.count ? range.lowerBound + path[1] : nil
    }
}
