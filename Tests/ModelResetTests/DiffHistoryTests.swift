import Foundation
import ManagedModel
import ModelMigration
import ModelReader
import TestSupport
import Testing

/// `diff` over the histories of real apps' models, one version after the other.
@Suite(
    .enabled(if: !ModelHistory.all.isEmpty, "no models found: set COREDATASOURCE_MODELS to their directory"))
struct DiffHistoryTests {
    @Test(arguments: ModelHistory.all) func relationshipsAreDescribedAsTheyChanged(_ history: ModelHistory) async throws
    {
        let program = try Program()
        var lineCount = 0
        for (old, new) in history.steps {
            let (oldModel, newModel) = (try ModelReader.read(old).model, try ModelReader.read(new).model)
            let expected = RelationshipChanges(from: oldModel, to: newModel)
            // A step of a program takes its time, so most of those that change no relationship are left out.
            if expected.changes.isEmpty && lineCount > 0 { continue }
            let moment = "\(old.lastPathComponent) -> \(new.lastPathComponent)"
            let json = try await program.json("diff", old.path, new.path)
            let found = (json["changes"] as? [[String: Any]] ?? []).compactMap { $0 as? [String: String] }
                .filter { expected.isRelationship($0["entity"] ?? "", $0["property"] ?? "") }
            lineCount += found.count
            let lines = Dictionary(grouping: found) { "\($0["entity"] ?? "").\($0["property"] ?? "")" }
                .mapValues { $0.map { $0["change"] ?? "" } }
            #expect(Set(lines.keys) == Set(expected.changes.keys), "\(moment)")
            for (path, beginning) in expected.changes {
                let words = lines[path] ?? []
                #expect(words.contains { $0.hasPrefix(beginning) }, "\(moment), \(path): \(words)")
            }
            try expectThePlan(json, MigrationPlan(from: oldModel, to: newModel), moment)
            let lost = found.filter { $0["change"]?.contains("links are lost") == true }
            try expectLosses(json, of: lost.map { ($0["entity"] ?? "", $0["property"] ?? "") }, oldModel, moment)
        }
        #expect(lineCount > 5)
    }

    /// What the program says is what a start with the policy would do.
    private func expectThePlan(_ json: [String: Any], _ plan: MigrationPlan, _ moment: String) throws {
        let migration = try #require(json["migration"] as? [String: Any])
        #expect(migration["possible"] as? Bool == plan.isPossible, "\(moment)")
        #expect(migration["obstacles"] as? [String] == plan.obstacles, "\(moment)")
        let losses = plan.isPossible ? plan.losses.map(\.description) : []
        #expect(migration["losses"] as? [String] == losses, "\(moment)")
    }

    /// The losses name each relationship whose line says that its links are lost, or its inverse: these are the same links.
    private func expectLosses(
        _ json: [String: Any], of relationships: [(entity: String, name: String)], _ old: ManagedObjectModel,
        _ moment: String
    ) throws {
        let migration = try #require(json["migration"] as? [String: Any])
        guard migration["possible"] as? Bool == true else { return }
        let losses = try #require(migration["losses"] as? [String])
        for (entity, name) in relationships {
            let relationship = old.entity(named: entity)?.relationships.first { $0.name == name }
            let inverse = relationship.map { "\($0.destinationName).\($0.inverseName ?? "")" }
            let isListed = losses.contains { loss in
                ["\(entity).\(name)", inverse].contains { $0.map { loss.hasPrefix("\($0): the links") } ?? false }
            }
            #expect(isListed, "\(moment), \(entity).\(name)")
        }
    }
}

/// The relationships that two models do not have in common, found by their names alone, and how a line about each begins.
private struct RelationshipChanges {
    private(set) var changes: [String: String] = [:]
    private var all: Set<String> = []
    private let old: ManagedObjectModel
    private let new: ManagedObjectModel

    /// What the persisted shape of a relationship consists of.
    private struct Shape: Equatable {
        var (destination, inverse): (String, String?)
        let (isToMany, isOrdered, isOptional): (Bool, Bool, Bool)
        let (minimum, maximum): (Int, Int)
        let modifier: String?

        init(_ relationship: RelationshipDescription) {
            (destination, inverse) = (relationship.destinationName, relationship.inverseName)
            (isToMany, isOrdered) = (relationship.isToMany, relationship.isToMany && relationship.isOrdered)
            (isOptional, modifier) = (relationship.isOptional, relationship.versionHashModifier)
            minimum = isToMany ? max(0, relationship.minimumCount) : 0
            maximum = isToMany ? max(0, relationship.maximumCount) : 0
        }
    }

    init(from old: ManagedObjectModel, to new: ManagedObjectModel) {
        (self.old, self.new) = (old, new)
        for entity in new.entities {
            // The parts of an entity that is new, or gone, have no lines.
            guard let oldEntity = old.entity(named: entity.name) else { continue }
            let (before, after) = (stored(oldEntity), stored(entity))
            let renamed = after.filter { before[$0.key] == nil }.compactMapValues { other in
                other.renamingIdentifier.flatMap { before[$0] == nil || after[$0] != nil ? nil : $0 }
            }
            for name in Set(before.keys).union(after.keys) {
                let path = "\(entity.name).\(name)"
                all.insert(path)
                switch (before[name], after[name]) {
                case (let one?, let other?): if shapeWithNewNames(one) != Shape(other) { changes[path] = "" }
                case (nil, _): changes[path] = renamed[name].map { "renamed from \($0)" } ?? "added ("
                case (_, nil): if !renamed.values.contains(name) { changes[path] = "removed (" }
                }
            }
        }
    }

    func isRelationship(_ entity: String, _ name: String) -> Bool { all.contains("\(entity).\(name)") }

    private func stored(_ entity: EntityDescription) -> [String: RelationshipDescription] {
        entity.relationships.filter { !$0.isTransient }.reduce(into: [:]) { $0[$1.name] = $1 }
    }

    private func shapeWithNewNames(_ relationship: RelationshipDescription) -> Shape {
        var shape = Shape(relationship)
        if new.entity(named: shape.destination) == nil,
            let renamed = new.entities.first(where: { $0.renamingIdentifier == shape.destination })
        {
            shape.destination = renamed.name
        }
        let inverses = new.entity(named: shape.destination).map(stored) ?? [:]
        if let inverse = shape.inverse, inverses[inverse] == nil {
            shape.inverse = inverses.values.first { $0.renamingIdentifier == inverse }?.name ?? inverse
        }
        return shape
    }
}
