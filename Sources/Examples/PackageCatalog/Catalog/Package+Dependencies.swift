internal import CoreDataSource
internal import DebianControl

extension Package {
    /// Name and version.
    var title: String { "\(name) \(version)" }

    /// The alternatives of each requirement, in the order of the control file.
    var requirements: [[Dependency]] {
        let groups = Dictionary(grouping: dependencies, by: \.requirement).sorted { $0.key < $1.key }
        return groups.map { $0.value.sorted { $0.position < $1.position } }
    }

    /// The dependencies that this package meets: those of other packages, and possibly some of its own.
    var dependents: [Dependency] {
        let names = (packageName.map { [$0] } ?? []) + provides
        return names.flatMap { $0.dependents }.filter { $0.isMet(by: self) }
    }

    /// The version that the `Provides` field of the package gives for a name; nil if the field gives none.
    fileprivate func providedVersion(_ name: String) -> String? {
        let references = PackageReference.requirements(provided)?.joined()
        return references?.first { $0.name == name && $0.version?.relation == .equal }?.version?.version
    }
}

extension Dependency {
    /// The stored packages that meet the dependency, sorted by name.
    var candidates: [Package] {
        guard let target else { return [] }
        var seen: Set<ManagedObjectID> = []
        return (Array(target.packages) + Array(target.providers))
            .filter { $0.isInstalled && isMet(by: $0) && seen.insert($0.objectID).inserted }
            .sorted { ($0.name, $0.key) < ($1.name, $1.key) }
    }

    /// Whether a package meets the dependency: by its name, its version and its architecture. If the package only provides
    /// the name, the version in its `Provides` field counts. If that field gives no version, no version constraint is met.
    fileprivate func isMet(by package: Package) -> Bool {
        guard let reference = PackageReference(text) else { return false }
        let isNamed = package.name == reference.name
        if let constraint = reference.version {
            guard let version = isNamed ? package.version : package.providedVersion(reference.name),
                constraint.allows(version)
            else { return false }
        }
        switch reference.architecture {
        case nil, "any", "native": return true
        case let architecture?: return package.architecture == architecture || package.architecture == "all"
        }
    }
}

extension Package {
    /// Whether the package is installed or available. False for dpkg's record of a removed package.
    var isInstalled: Bool { !version.isEmpty && status?.hasSuffix(" config-files") != true }
}
