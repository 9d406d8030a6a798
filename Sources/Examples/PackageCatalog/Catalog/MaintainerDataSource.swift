internal import CoreDataSource
internal import DebianControl

/// The data source of maintainers. A maintainer with packages cannot be deleted.
final class MaintainerDataSource: KeyedDataSource<MaintainerRecord, Maintainer> {
    nonisolated override class var key: ObjectKey<MaintainerRecord, Maintainer> { ObjectKey(\.key, \.key) }

    nonisolated override func update(
        _ maintainer: Maintainer, from record: MaintainerRecord, in context: PrivateContext
    ) {
        maintainer.name = record.name
        maintainer.email = record.email
        maintainer.packageCount = Int32(clamping: record.packageCount)
    }

    /// Counts the packages of the maintainers again.
    ///
    /// - Parameter deletesUnused: Whether maintainers without packages are deleted.
    func count(_ keys: Set<String>, deletesUnused: Bool) async throws {
        try await perform { context in
            for key in keys.sorted() {
                guard let maintainer = try context.first(Maintainer.self, where: \.key, equals: key) else { continue }
                let count = maintainer.packages.count
                maintainer.packageCount = Int32(clamping: count)
                if deletesUnused && count == 0 { context.delete(maintainer) }
            }
        }
    }

    /// Deletes a maintainer.
    ///
    /// - Throws: An error that names packages, if the maintainer still has packages; an error if the key is unknown.
    func remove(_ key: String) async throws {
        do {
            let count = try await perform { try $0.delete(Maintainer.self, where: \.key == key) }
            if count == 0 { throw CatalogError("Not in the catalog: \(key)") }
        } catch let error as DataSourceError where error.code == .deletionDenied {
            let maintainer = try main.first(Maintainer.self, where: \.key, equals: key)
            let names = try maintainer?.packages.sorted(by: [.ascending(\.name)]).map(\.name) ?? []
            let list = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
            throw CatalogError("\(key) still has packages (\(names.count)): \(list). Delete these packages first.")
        }
    }
}
