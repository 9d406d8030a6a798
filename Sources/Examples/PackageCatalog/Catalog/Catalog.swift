internal import CoreDataSource
internal import DebianControl
internal import Foundation

/// The store and its two data sources.
@MainActor
struct Catalog {
    let container: PersistentContainer
    let packages: PackageDataSource
    let maintainers: MaintainerDataSource

    init(_ arguments: Arguments, resetPolicy: ResetPolicy) async throws {
        container = try await PersistentContainer(
            model: .packages, store: arguments.catalogLocation.location,
            databaseKey: arguments.databaseKey, configuration: .init(resetPolicy: resetPolicy))
        packages = try container.dataSource(PackageDataSource.self)
        maintainers = try container.dataSource(MaintainerDataSource.self)
    }

    /// Makes the stored packages and their maintainers equal to the list, and prints the result.
    func update(_ list: PackageList) async throws {
        print("startup: \(container.startup.sentence)")
        for line in try await sync(list) { print(line) }
    }

    /// Makes the stored packages and their maintainers equal to the list.
    func sync(_ list: PackageList) async throws -> [SyncLine] {
        // New maintainers are added before their packages. Maintainers that are no longer in the list are deleted after
        // their packages, because a maintainer with packages cannot be deleted.
        let records = MaintainerRecord.all(of: list.packages)
        var others = try await maintainers.sync(records, deleting: .none)
        ProgressBar.standardError.begin("Storing", total: list.packages.count)
        let synced = try await packages.sync(list.packages)
        ProgressBar.standardError.end()
        try await packages.removeUnusedNames()
        let line = SyncLine("packages", synced, broken: list.brokenCount, rows: try packages.count(Package.self))

        // An empty list is allowed, because it is possible that no package has a maintainer.
        others.deleted = try await maintainers.sync(records, deleting: .all, options: .allowsEmpty).deleted
        try await packages.showSaves()
        return [line, SyncLine("maintainers", others, broken: 0, rows: try maintainers.count(Maintainer.self))]
    }

    func delete(_ names: [String]) async throws {
        let (line, missing) = try await remove(names)
        print(line)
        if let missing { throw missing }
    }

    /// Deletes packages, and then those of their maintainers that have no packages left. Returns a line about the deleted
    /// packages, and an error if some names are unknown.
    func remove(_ names: [String]) async throws -> (line: String, missing: CatalogError?) {
        let missing = try names.filter { try !packages.main.exists(Package.self, where: \.name == $0) }
        let deletedPackages = try packages.fetch(Package.self, where: .isIn(\.name, names))
        let keys = Set(deletedPackages.compactMap { $0.maintainer?.key })
        let count = try await packages.perform { try $0.delete(Package.self, where: .isIn(\.name, names)) }
        try await packages.removeUnusedNames()
        try await maintainers.count(keys, deletesUnused: true)
        try await packages.showSaves()
        let line = "packages: deleted=\(count) rows=\(try packages.count(Package.self))"
        let error = CatalogError("Not in the catalog: \(missing.joined(separator: ", "))")
        return (line, missing.isEmpty ? nil : error)
    }

    /// Deletes the maintainers with these keys. Throws an error if a maintainer still has packages.
    func deleteMaintainers(_ keys: [String]) async throws {
        for key in keys { try await maintainers.remove(key) }
        print("maintainers: deleted=\(keys.count) rows=\(try maintainers.count(Maintainer.self))")
    }
}

extension Catalog {
    /// Prints a line for each package, sorted by name.
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
    /// Whether the name or the summary contains the string, ignoring case.
    fileprivate func matches(_ text: String?) -> Bool {
        guard let text else { return true }
        return [name, summary].contains { $0.range(of: text, options: .caseInsensitive) != nil }
    }
}
