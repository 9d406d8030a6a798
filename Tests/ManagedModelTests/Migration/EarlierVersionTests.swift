import ManagedModel
@testable import ModelMigration
import Testing

/// Where values go if somebody skips versions.
@Suite struct EarlierVersionTests {
    /// `E: a b<a` is an entity with an attribute `a`, and an attribute `b` whose renaming identifier is `a`.
    private static func model(_ spelling: String) -> ManagedObjectModel {
        func named(_ word: Substring) -> (name: String, identifier: String?) {
            let parts = word.split(separator: "<").map(String.init)
            return (parts[0], parts.count > 1 ? parts[1] : nil)
        }
        let entities = spelling.split(separator: ";").map { text in
            let parts = text.split(separator: ":")
            let (name, identifier) = named(parts[0].split(separator: " ")[0])
            let attributes = (parts.count > 1 ? parts[1] : "").split(separator: " ").map { word in
                let (name, identifier) = named(word)
                return AttributeDescription(
                    name: name, type: .string, isOptional: true, renamingIdentifier: identifier)
            }
            return EntityDescription(name: name, attributes: attributes, renamingIdentifier: identifier)
        }
        return ManagedObjectModel(
            name: "M", entities: entities,
            configurations: [EntityConfiguration(name: "All", entityNames: entities.map(\.name))])
    }

    /// `E.b=D.a`: the values of `b` are those of `a` before.
    private static func sources(_ plan: MigrationPlan, _ old: ManagedObjectModel, _ new: ManagedObjectModel) -> String {
        plan.entities.flatMap { entity in
            let newColumns = new.columns(of: new.entity(named: entity.newName)!)
            let oldColumns = old.columns(of: old.entity(named: entity.oldName)!)
            return entity.attributes.sorted { $0.key < $1.key }.compactMap { position, source -> String? in
                guard case .column(let column) = source else { return nil }
                return "\(entity.newName).\(newColumns[position].name)=\(entity.oldName).\(oldColumns[column].name)"
            }
        }.joined(separator: " ")
    }

    @Test(arguments: [
        // What is renamed and renamed again, each time from the name before.
        (["E: a", "E: b<a", "E: c<b"], "E.c=E.a"),
        // A new attribute takes the name of one that was renamed, and then of one that is gone.
        (["E: a", "E: b<a", "E: a b<a"], "E.b=E.a"),
        (["E: a", "E: b<a", "E: b", "E: a b"], "E.b=E.a"),
        (["E: a b", "E: b", "E: a b z"], "E.b=E.b"),
        (["E: a", "E: b<a", "E: b<a a", "E: b<b c<a"], "E.b=E.a"),
        // They exchange their names on the way.
        (["E: a b", "E: c<a b", "E: c a<b", "E: b<c a z"], "E.b=E.a E.a=E.b"),
        // Entities likewise.
        (["E: a", "F<E: a", "E: a; F<E: a"], "F.a=E.a"),
        (["E: a", "F<E: b<a", "F: a b; E: b"], "F.b=E.a"),
    ])
    func valuesGoThroughTheVersionsBetween(_ spellings: [String], _ sources: String) throws {
        let versions = spellings.map(EarlierVersionTests.model)
        var newest = try #require(versions.last)
        newest.follow(Array(versions.dropLast()))
        let plan = MigrationPlan(from: versions[0], to: newest)
        #expect(EarlierVersionTests.sources(plan, versions[0], newest) == sources)
        #expect(plan.obstacles == [])
        // A store that was made for a configuration.
        let part = try versions[0].restricted(toConfiguration: "All")
        #expect(EarlierVersionTests.sources(MigrationPlan(from: part, to: newest), part, newest) == sources)
    }

    @Test func aVersionThatNamesDescribeRightIsNotKept() {
        let versions = ["E: a", "E: a b", "E: a c<b", "E: d<a c<b"].map(EarlierVersionTests.model)
        var newest = versions[3]
        newest.follow(Array(versions.dropLast()))
        #expect(newest.earlierVersions == [])
    }

    /// Nobody knows what became of what is older.
    @Test func anUnclearStepEndsTheHistory() {
        let versions = ["E: x", "E: a y<x", "E: a<x b<x", "E: c<a x"].map(EarlierVersionTests.model)
        var newest = versions[3]
        newest.follow(Array(versions.dropLast()))
        #expect(newest.earlierVersions.allSatisfy { $0.hashes.contains(versions[2].hash.description) })
    }

    @Test func theWordsSayWhereThingsCameFrom() {
        let versions = ["E: a", "E: b<a", "E: b", "E: a b"].map(EarlierVersionTests.model)
        var newest = versions[3]
        newest.follow(Array(versions.dropLast()))
        let changes = MigrationPlan(from: versions[0], to: newest).changes.map(\.description)
        #expect(changes == ["E.a: added (String, optional)", "E.b: renamed from a"])
    }
}
