import CoreDataSource
import TestSupport

/// A value of a list that a graph is synced with: an object with a text, and objects beside it.
struct GraphValue: Sendable {
    struct Child: Sendable {
        let key: String
        let text: String
    }

    typealias Name = GraphReference.Name

    let name: Name
    let text: String
    let children: [Child]

    /// Beside a letter there are topics, and beside others letters.
    func name(of child: Child) -> Name { Name(name.kind == .letter ? .topic : .letter, child.key) }

    /// What the hook does. It makes no links: a sync without all operations could not take them back.
    func add(to context: PrivateContext) throws -> ManagedObject? {
        for child in children {
            if name.kind == .letter {
                try context.topic(child.key).title = child.text
            } else {
                try context.letter(child.key).subject = child.text
            }
        }
        switch name.kind {
        case .topic:
            let topic = try context.topic(name.key)
            topic.title = text
            return topic
        case .letter:
            let letter = try context.letter(name.key)
            letter.subject = text
            return letter
        case .person:
            let person = try context.person(name.key)
            person.name = text
            return person
        default:
            let animal = try animal(context)
            animal.name = text
            return animal
        }
    }

    /// One that is there is found by the abstract entity.
    private func animal(_ context: PrivateContext) throws -> Animal {
        if try context.exists(Animal.self, where: \.key == name.key) {
            return try context.findOrInsert(Animal.self, where: \.key, equals: name.key)
        }
        return name.kind == .cat ? try context.cat(name.key) : try context.dog(name.key)
    }
}

/// A sync of a graph with a list of one kind, of the reference and of a data source alike.
struct GraphSync: Sendable {
    private typealias Name = GraphReference.Name

    private let kinds: [GraphReference.Kind]
    private let values: [GraphValue]
    private let operations: SyncOperations
    private let options: SyncOptions

    init(_ random: inout SeededRandom) {
        let kinds: [GraphReference.Kind] =
            [[.topic], [.letter], [.person], [.cat, .dog]].randomElement(using: &random) ?? [.topic]
        self.kinds = kinds
        func key() -> String { "\(Int.random(in: 0..<5, using: &random))" }
        func text() -> String { "\(Int.random(in: 0..<2, using: &random))" }
        values = (0..<Int.random(in: 0...5, using: &random)).map { _ in
            let kind = kinds.randomElement(using: &random) ?? .topic
            let children = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                GraphValue.Child(key: key(), text: text())
            }
            return GraphValue(
                name: GraphReference.Name(kind, kind == .dog ? "d\(key())" : key()), text: text(), children: children)
        }
        operations = SyncOperations(rawValue: Int.random(in: 0..<8, using: &random))
        options = Bool.random(using: &random) ? .allowsEmpty : []
    }

    // MARK: The reference

    struct Outcome: Sendable {
        var report = SyncReport()
        var error: DataSourceError.Code?
    }

    /// - Returns: What the sync reports or throws.
    func apply(to graph: inout GraphReference) -> Outcome {
        let before = graph
        var outcome = Outcome()
        var (met, children) = ([Name](), [Name]())
        func put(_ name: Name, _ text: String, _ names: inout [Name]) -> Bool {
            graph.insert(name)
            graph.texts["\(name)"] = text
            if names.contains(name) { return false }
            names.append(name)
            return true
        }
        outcome.report.read = values.count
        for value in values {
            for child in value.children { _ = put(value.name(of: child), child.text, &children) }
            if !put(value.name, value.text, &met) { outcome.report.duplicates += 1 }
        }
        for (names, inserted, updated) in [
            (met, \SyncReport.inserted, \SyncReport.updated),
            (children, \SyncReport.insertedChildren, \SyncReport.updatedChildren),
        ] {
            for name in names { count(name, before, &graph, &outcome.report, inserted, updated) }
        }
        outcome.report.unchanged = met.count { before.contains($0) && before.text($0) == graph.text($0) }
        outcome.report.unchanged -= skippedUpdates(met, before)
        let missing = kinds.flatMap { kind in before.keys(kind).sorted().map { Name(kind, $0) } }
            .filter { !met.contains($0) }
        guard operations.contains(.delete), !missing.isEmpty else {
            outcome.report.kept = missing.count
            return outcome
        }
        if met.isEmpty && !options.contains(.allowsEmpty) {
            outcome.error = .emptySync
            return outcome
        }
        outcome.report.deleted = missing.count
        outcome.error = graph.delete(missing).map { $0 == .denied ? .deletionDenied : .validationFailed }
        for kind in GraphReference.Kind.allCases {
            outcome.report.totalDeleted += before.keys(kind).subtracting(graph.keys(kind)).count
        }
        return outcome
    }

    /// Counts what was done to an object, or rolls it back.
    private func count(
        _ name: Name, _ before: GraphReference, _ graph: inout GraphReference, _ report: inout SyncReport,
        _ inserted: WritableKeyPath<SyncReport, Int>, _ updated: WritableKeyPath<SyncReport, Int>
    ) {
        let isNew = !before.contains(name)
        if !isNew && before.text(name) == graph.text(name) { return }
        if operations.contains(isNew ? .insert : .update) {
            report[keyPath: isNew ? inserted : updated] += 1
            return
        }
        report.skipped += 1
        if isNew { graph.remove(name) } else { graph.texts["\(name)"] = before.texts["\(name)"] }
    }

    /// How many objects of the list have their text again because the sync may not update them.
    private func skippedUpdates(_ met: [Name], _ before: GraphReference) -> Int {
        if operations.contains(.update) { return 0 }
        return met.count { name in
            let text = values.last { $0.name == name }?.text
            return before.contains(name) && before.text(name) != text
        }
    }

    // MARK: The data source

    func run(_ source: GraphDataSource) async throws -> SyncReport {
        if kinds == [.topic] { return try await run(source, Topic.self) }
        if kinds == [.letter] { return try await run(source, Letter.self) }
        if kinds == [.person] { return try await run(source, Person.self) }
        return try await run(source, Animal.self)
    }

    /// The sync does what was planned.
    private func run<Object: ManagedObject>(_ source: GraphDataSource, _ type: Object.Type) async throws -> SyncReport {
        let plan = try await source.planSync(values, entity: type, operations: operations, options: options)
        let report = try await source.sync(values, entity: type, operations: operations, options: options)
        if plan != report { throw PlanError(plan: plan, report: report) }
        return report
    }

    private struct PlanError: Error {
        let plan: SyncReport
        let report: SyncReport
    }
}

extension GraphReference {
    func text(_ name: Name) -> String { texts["\(name)"] ?? "" }
}

extension GraphSync: CustomStringConvertible {
    var description: String {
        "a sync of \(kinds) with \(values.map { "\($0.name) \($0.text) \($0.children.map { "\($0.key) \($0.text)" })" }), \(operations.rawValue)"
    }
}
