internal import CoreDataSource
internal import DebianControl

/// The maintainers, to whom packages are linked by `maintainerKey`.
final class MaintainerDataSource: KeyedDataSource<MaintainerRecord, Maintainer> {
    override class var key: ObjectKey<MaintainerRecord, Maintainer> { ObjectKey(\.key, \.key) }

    override func update(_ maintainer: Maintainer, from record: MaintainerRecord) {
        maintainer.name = record.name
        maintainer.email = record.email
        maintainer.packageCount = Int32(clamping: record.packageCount)
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
