internal import CoreDataSource

/// Queries that follow the links between packages.
extension Catalog {
    /// Prints a line for each requirement of the packages that have the given name. The line has the package, the field, the
    /// alternatives, and the packages that meet the requirement.
    func printDependencies(of name: String) throws {
        for package in try stored(name) {
            for requirement in package.requirements {
                let texts = requirement.map(\.text).joined(separator: " | ")
                let found = requirement.flatMap(\.candidates).map(\.title).unique
                let answer = found.isEmpty ? "missing" : found.joined(separator: ", ")
                print([package.title, requirement[0].field, texts, answer].joined(separator: "\t"))
            }
        }
    }

    /// Prints a line for each dependency on the packages that have the given name, or on a name that these packages provide.
    /// The line has the package that depends, the field, and the requirement.
    func printDependents(of name: String) throws {
        let lines = try stored(name).flatMap(\.dependents).map { dependency in
            [dependency.dependant, dependency.field, dependency.text].joined(separator: "\t")
        }
        for line in lines.sorted().unique { print(line) }
    }

    /// Prints a shortest chain of dependencies that ends at a package with this name. The chain starts at a package that no
    /// other package needs.
    func printReason(for name: String) throws {
        let goals = try stored(name)
        var search = DependencySearch(to: goals)
        guard let chain = search.shortestChain() else {
            let isNeeded = search.dependentCount > 0
            print(isNeeded ? "Only packages that need each other lead to \(name)." : "Nothing depends on \(name).")
            return
        }
        for step in chain { print("\(step.package.title) \(step.field): \(step.text)") }
    }

    /// The installed or available packages that have the given name. If there are none, the installed or available packages
    /// that provide the name.
    private func stored(_ name: String) throws -> [Package] {
        let known = try packages.main.first(PackageName.self, where: \.name, equals: name)
        let found = Array(known?.packages.filter(\.isInstalled) ?? [])
        let all = found.isEmpty ? Array(known?.providers.filter(\.isInstalled) ?? []) : found
        if all.isEmpty { throw CatalogError("Not in the catalog: \(name)") }
        return all.sorted { $0.key < $1.key }
    }
}

/// Searches backwards, step by step, from packages to the packages that need them.
@MainActor
struct DependencySearch {
    /// A package of a chain, with the dependency that leads to the next package.
    struct Step {
        let package: Package
        let field: String
        let text: String
    }

    private let goals: [Package]
    /// For each reached package, the dependency and the next package of the chain.
    private var reached: [ManagedObjectID: (dependency: Dependency, next: Package)] = [:]
    /// The number of packages that the search found.
    var dependentCount: Int { reached.count }

    init(to goals: [Package]) {
        self.goals = goals
    }

    /// Returns a shortest chain that ends at one of the goals. The chain starts at a package that no other package needs.
    /// Returns nil if there is no such chain.
    mutating func shortestChain() -> [Step]? {
        var visited = Set(goals.map(\.objectID))
        var frontier = goals
        while !frontier.isEmpty {
            var next: [Package] = []
            var ends: [Package] = []
            for package in frontier {
                let dependents = package.dependents.filter { $0.package.map { $0 !== package } ?? false }
                if dependents.isEmpty, reached[package.objectID] != nil { ends.append(package) }
                for dependency in dependents.sorted(by: { $0.key < $1.key }) {
                    guard let dependent = dependency.package, visited.insert(dependent.objectID).inserted else {
                        continue
                    }
                    reached[dependent.objectID] = (dependency, package)
                    next.append(dependent)
                }
            }
            if let first = ends.min(by: { $0.key < $1.key }) { return chain(from: first) }
            frontier = next
        }
        return nil
    }

    private func chain(from package: Package) -> [Step] {
        var steps: [Step] = []
        var package = package
        while let (dependency, next) = reached[package.objectID] {
            steps.append(Step(package: package, field: dependency.field, text: dependency.text))
            package = next
        }
        return steps
    }
}

extension [String] {
    fileprivate var unique: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
