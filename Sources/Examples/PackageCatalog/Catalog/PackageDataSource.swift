internal import CoreDataSource
internal import DebianControl
internal import Foundation

/// The data source of packages and their dependencies. Name, architecture and version identify a package.
final class PackageDataSource: KeyedDataSource<PackageRecord, Package> {
    nonisolated override class var key: ObjectKey<PackageRecord, Package> { ObjectKey(\.key, \.key) }

    nonisolated override class var entities: [ManagedObject.Type] { [Package.self, Dependency.self, PackageName.self] }

    nonisolated override func prepare(_ records: [PackageRecord], in context: PrivateContext) throws {
        try super.prepare(records, in: context)
        try context.preload(Dependency.self, where: \.key, in: records.lazy.flatMap(\.dependencyKeys))
        try context.preload(PackageName.self, where: \.name, in: records.lazy.flatMap(\.names))
    }

    nonisolated override func onAdd(_ record: PackageRecord, in context: PrivateContext) throws -> ManagedObject? {
        let package = try context.findOrInsert(Package.self, where: \.key, equals: record.key)
        package.copyValues(record)
        package.packageName = try context.packageName(record.name)
        // Another data source owns the maintainers, and has already saved them.
        package.maintainer = try record.maintainer.flatMap {
            try context.first(Maintainer.self, where: \.key, equals: $0.key)
        }
        let provided = record.provides.map(\.text).joined(separator: ", ")
        if package.provided != provided {
            package.provided = provided
            package.provides.set(try record.provides.map { try context.packageName($0.name) })
        }
        let dependencies = try record.dependencies.map { value in
            let dependency = try context.findOrInsert(Dependency.self, where: \.key, equals: value.key)
            dependency.copyValues(value, of: record)
            dependency.package = package
            dependency.target = try context.packageName(value.reference.name)
            return dependency
        }
        try context.sweep(\.dependencies, of: package, keeping: dependencies, options: .allowsEmpty)
        ProgressBar.standardError.advance()
        return package
    }

    /// Deletes the names that no package has, provides or depends on.
    func removeUnusedNames() async throws {
        try await perform { context in
            for name in try context.fetch(PackageName.self)
            where name.packages.isEmpty && name.providers.isEmpty && name.dependents.isEmpty {
                context.delete(name)
            }
        }
    }

    /// Waits until the main context shows all saves and its lists have reported them.
    func showSaves() async throws {
        try await perform(waitFor: .main) { _ in }
    }
}

extension PrivateContext {
    fileprivate func packageName(_ name: String) throws -> PackageName {
        try findOrInsert(PackageName.self, where: \.name, equals: name)
    }
}

extension Package {
    fileprivate func copyValues(_ record: PackageRecord) {
        name = record.name
        architecture = record.architecture
        version = record.version
        section = record.section
        priority = record.priority
        summary = record.summary
        homepage = record.homepage.flatMap { URL(string: $0) }
        installedSize = record.installedSize
        size = record.size
        sha256 = record.sha256
        depends = record.depends
        preDepends = record.preDepends
        status = record.status
    }
}

extension Dependency {
    fileprivate func copyValues(_ value: DependencyValue, of record: PackageRecord) {
        dependant = "\(record.name) \(record.version)"
        field = value.field
        name = value.reference.name
        requirement = Int32(clamping: value.requirement)
        position = Int32(clamping: value.position)
        text = value.reference.text
    }
}

/// One alternative of one requirement of a package.
private struct DependencyValue {
    let key: String
    let field: String
    /// The number of the requirement in the package.
    let requirement: Int
    /// The position of the alternative in the requirement.
    let position: Int
    let reference: PackageReference
}

extension PackageRecord {
    fileprivate var dependencies: [DependencyValue] {
        requirements.enumerated().flatMap { number, requirement in
            requirement.alternatives.enumerated().map { position, reference in
                DependencyValue(
                    key: "\(key) \(number).\(position)", field: requirement.field, requirement: number,
                    position: position, reference: reference)
            }
        }
    }

    fileprivate var dependencyKeys: [String] { dependencies.map(\.key) }

    /// All names in the record.
    fileprivate var names: [String] {
        [name] + provides.map(\.name) + requirements.flatMap { $0.alternatives.map(\.name) }
    }
}
