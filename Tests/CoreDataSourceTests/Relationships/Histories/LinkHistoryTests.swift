import CoreDataSource
import Foundation
import ManagedModel
import ModelMigration
import ModelReader
import TestSupport
import Testing

/// The histories of real apps' models, wherever relationships changed: after a migration accessors show the links that the plan
/// says, and no others.
@MainActor
@Suite(
    .enabled(if: !ModelHistory.all.isEmpty, "no models found: set COREDATASOURCE_MODELS to their directory"))
struct LinkHistoryTests {
    @Test(arguments: ModelHistory.all) func linksAreCarriedDroppedAndNullifiedAsThePlanSays(
        _ history: ModelHistory
    ) async throws {
        var counts = Counts()
        for (old, new) in history.steps { try await step(history, old, new, &counts) }
        #expect(counts.steps > 0 && counts.carried > 100)
        // AltStore has removed no relationship.
        #expect((counts.dropped + counts.nullified > 0) == !history.description.hasPrefix("AltStore"), "\(counts)")
    }

    /// Versions are skipped, as by a user who did not start the app for a year.
    @Test(arguments: ModelHistory.all) func linksAreCarriedOverSeveralVersions(_ history: ModelHistory) async throws {
        var counts = Counts()
        let versions = history.versions
        for jump in [3, versions.count / 2, versions.count - 1] {
            try await step(history, versions[versions.count - 1 - jump], versions[versions.count - 1], &counts)
        }
    }

    private struct Counts {
        var (steps, refused) = (0, 0)
        /// Links that are as they were; of relationships that are gone; and to or from objects that are gone.
        var (carried, dropped, nullified) = (0, 0, 0)
    }

    private func step(_ history: ModelHistory, _ old: URL, _ new: URL, _ counts: inout Counts) async throws {
        let moment = "\(old.lastPathComponent) -> \(new.lastPathComponent)"
        let (realOld, realNew) = (try ModelReader.read(old).model, try ModelReader.read(new).model)
        guard changesRelationships(realOld, realNew) else { return }
        let (old, new) = (realOld.relaxed, realNew.relaxed)
        let plan = MigrationPlan(from: old, to: new)
        expectSameLinks(plan, MigrationPlan(from: realOld, to: realNew), moment)
        counts.steps += 1

        let directory = try TemporaryDirectory()
        let before = try await LinkedObjects.fill(old, at: directory.store)
        let outcome = LinkOutcome(before.entities, before.links, plan, from: old, to: new)
        let container = try await PersistentContainer(
            model: new, store: .sqlite(directory.store),
            configuration: .init(synchronous: .normal, resetPolicy: .migrate))
        let newNames = before.entities.mapValues { new.entity(named: $0)?.name ?? "" }
        let after = try LinkedObjects(container, newNames.merging(outcome.carried) { $1 })
        if let reason = container.startup.fallback {
            counts.refused += 1
            #expect(after.entities.isEmpty && !(plan.isPossible && plan.conditions.isEmpty), "\(moment): \(reason)")
            return try await container.close()
        }
        #expect(plan.isPossible, "\(moment)")
        #expect(after.entities == outcome.carried, "\(moment)")
        expectLinks(after, outcome, new, moment)
        count(before, outcome, old, &counts, moment)
        try await container.close()
    }

    private func changesRelationships(_ old: ManagedObjectModel, _ new: ManagedObjectModel) -> Bool {
        func relationships(_ model: ManagedObjectModel) -> [String: RelationshipDescription] {
            LinkOutcome.relationships(model).reduce(into: [:]) { $0["\($1.0.entity).\($1.0.name)"] = $1.1 }
        }
        return relationships(old) != relationships(new)
    }

    /// What a model demands of values and of counts decides nothing of what becomes of links.
    private func expectSameLinks(_ plan: MigrationPlan, _ realPlan: MigrationPlan, _ moment: String) {
        #expect(plan.links == realPlan.links && plan.obstacles == realPlan.obstacles, "\(moment)")
        func losses(_ plan: MigrationPlan) -> [[String]] {
            plan.losses.filter { $0.kind == .links }.map {
                [$0.entityName, $0.propertyName ?? ""] + $0.sources + ["to"] + $0.destinations
            }
        }
        #expect(losses(plan) == losses(realPlan), "\(moment)")
    }

    private func expectLinks(
        _ after: LinkedObjects, _ outcome: LinkOutcome, _ model: ManagedObjectModel, _ moment: String
    ) {
        for (name, relationship) in LinkOutcome.relationships(model) {
            let (expected, isOrdered) = outcome.links(of: name, relationship)
            let found = after.links[name] ?? [:]
            let isEqual =
                isOrdered ? found == expected : found.mapValues { $0.sorted() } == expected.mapValues { $0.sorted() }
            #expect(isEqual, "\(moment), \(name.entity).\(name.name): \(found) and not \(expected)")
        }
    }

    /// Links are lost if and only if the plan lists them, or one of their ends.
    private func count(
        _ before: LinkedObjects, _ outcome: LinkOutcome, _ model: ManagedObjectModel, _ counts: inout Counts,
        _ moment: String
    ) {
        for (name, relationship) in LinkOutcome.relationships(model) {
            let (count, left) = outcome.count(of: name)
            let loss = outcome.loss(of: name, relationship)
            #expect(left == count || loss != nil, "\(moment), \(name.entity).\(name.name)")
            if let loss, loss.sources.isEmpty, loss.destinations.isEmpty {
                #expect(left == 0, "\(moment), \(name.entity).\(name.name)")
            }
            counts.carried += left
            counts.dropped += count - left
            counts.nullified += (before.links[name] ?? [:]).values.reduce(0) { $0 + $1.count } - count
        }
    }
}

extension ManagedObjectModel {
    /// The model without what it demands of values and of counts, so that any object can be saved. What is required stays so.
    fileprivate var relaxed: ManagedObjectModel {
        var model = self
        for entity in model.entities.indices {
            for attribute in model.entities[entity].attributes.indices {
                model.entities[entity].attributes[attribute].minimum = nil
                model.entities[entity].attributes[attribute].maximum = nil
                model.entities[entity].attributes[attribute].pattern = nil
            }
            for relationship in model.entities[entity].relationships.indices {
                model.entities[entity].relationships[relationship].isOptional = true
                model.entities[entity].relationships[relationship].minimumCount = 0
            }
        }
        return model
    }
}
