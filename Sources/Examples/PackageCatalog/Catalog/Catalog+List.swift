internal import CoreDataSource
internal import Foundation

extension Catalog {
    /// Prints the packages, sorted by name, one line each.
    func list(_ filter: ListFilter) throws {
        let inSection = filter.section.map { \Package.section == $0 }
        let found = try packages.fetch(
            Package.self, where: inSection, order: [SortDescriptor(\.name), SortDescriptor(\.key)],
            limit: filter.search == nil ? filter.limit : nil)
        for package in found.lazy.filter({ $0.matches(filter.search) }).prefix(filter.limit ?? .max) {
            let columns = [package.name, package.version, package.architecture, package.section, package.summary]
            print(columns.joined(separator: "\t"))
        }
    }
}

extension Package {
    /// Whether the string is in the name or the summary, ignoring case.
    fileprivate func matches(_ text: String?) -> Bool {
        guard let text else { return true }
        return [name, summary].contains { $0.range(of: text, options: .caseInsensitive) != nil }
    }
}
