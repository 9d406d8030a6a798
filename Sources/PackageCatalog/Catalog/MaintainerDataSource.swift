internal import CoreDataSource
internal import DebianControl

/// The maintainers, to whom packages are linked by `maintainerKey`.
final class MaintainerDataSource: DataSource {
    override class var entities: [ManagedObject.Type] { [Maintainer.self] }

    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        guard let record = object as? MaintainerRecord else { return nil }
        let maintainer = try context.findOrInsert(Maintainer.self, where: \.key, equals: record.key)
        maintainer.name = record.name
        maintainer.email = record.email
        maintainer.packageCount = Int32(clamping: record.packageCount)
        return maintainer
    }

    /// Sets how many packages each maintainer has, by key.
    func count(_ packages: [String: Int]) async throws {
        try await perform { context in
            for (key, count) in packages {
                try context.first(Maintainer.self, where: \.key, equals: key)?.packageCount = Int32(clamping: count)
            }
        }
    }

    /// Takes packages away from their maintainers, and deletes those who have none left.
    ///
    /// - Parameter keys: The maintainer of each package; a key may come more than once.
    func remove(packagesOf keys: [String]) async throws {
        try await perform { context in
            for key in keys {
                guard let maintainer = try context.first(Maintainer.self, where: \.key, equals: key) else { continue }
                maintainer.packageCount -= 1
                if maintainer.packageCount <= 0 { context.delete(maintainer) }
            }
        }
    }
}
