import ManagedModel
@testable import ModelMigration
import Testing

/// The elements that have lost their renaming identifier since the version before.
@Suite struct DroppedIdentifierTests {
    /// `E<D(B): a b<a >r<q p@P` is an entity `E` with the identifier `D` and the parent `B`, the attributes `a` and `b`, whose
    /// identifier is `a`, the relationship `r`, whose identifier is `q`, and the attribute `p` of the composite `P`. `@P: c`
    /// is this composite.
    private static func model(_ spelling: String) -> ManagedObjectModel {
        var entities: [EntityDescription] = []
        var composites: [CompositeDescription] = []
        for text in spelling.split(separator: "; ") {
            let parts = text.split(separator: ":")
            let words = (parts.count > 1 ? parts[1] : "").split(separator: " ")
            let attributes = words.filter { !$0.hasPrefix(">") }.map(attribute)
            if parts[0].hasPrefix("@") {
                composites.append(CompositeDescription(name: String(parts[0].dropFirst()), attributes: attributes))
                continue
            }
            let heading = parts[0].split { "()".contains($0) }
            let (name, identifier) = named(heading[0])
            entities.append(
                EntityDescription(
                    name: name, parentName: heading.count > 1 ? String(heading[1]) : nil, attributes: attributes,
                    relationships: words.filter { $0.hasPrefix(">") }.map { word in
                        let (relationship, identifier) = named(word.dropFirst())
                        return RelationshipDescription(
                            name: relationship, destinationName: name, isOptional: true, renamingIdentifier: identifier)
                    }, renamingIdentifier: identifier))
        }
        return ManagedObjectModel(name: "M", entities: entities, composites: composites)
    }

    private static func attribute(_ word: Substring) -> AttributeDescription {
        let parts = word.split(separator: "@")
        let (name, identifier) = named(parts[0])
        return AttributeDescription(
            name: name, type: parts.count > 1 ? .composite : .string, isOptional: true,
            compositeName: parts.count > 1 ? String(parts[1]) : nil, renamingIdentifier: identifier)
    }

    private static func named(_ word: Substring) -> (name: String, identifier: String?) {
        let parts = word.split(separator: "<").map(String.init)
        return (parts[0], parts.count > 1 ? parts[1] : nil)
    }

    /// Checks the last version against the version before it.
    private func expect(
        _ dropped: [String], in spellings: [String], _ location: SourceLocation = #_sourceLocation
    ) throws {
        let versions = spellings.map(DroppedIdentifierTests.model)
        let model = try #require(versions.last)
        let locked = versions[versions.count - 2]
        let found = RenamingIdentifiers(of: locked).droppedIdentifiers(
            in: model, isSameShape: locked.hash == model.hash,
            since: versions.dropLast(2).reversed().map { RenamingIdentifiers(of: $0) })
        #expect(found == dropped, "\(spellings)", sourceLocation: location)
    }

    @Test(arguments: [
        // The first version has `a`. The last version has a new element with the middle name.
        ["E: a", "E: b<a", "E: c<b b"], ["E: a", "E: b<a", "E: c<a b"], ["E: b<a", "E: a<b b"],
        ["E: >a", "E: >b<a", "E: >c<b >b"], ["E: >a", "E: >b<a", "E: >c<a >b"],
        ["D", "E<D", "F<E; E"], ["D", "E<D", "F<D; E"],
        ["E: a@P; @P: x", "E: b<a@P; @P: x", "E: c<b@P b@P; @P: x"], ["E: b<a@P; @P: x", "E: c<a@P b@P; @P: x"],
        ["E: p@P; @P: y<x", "E: p@P; @P: z<y y"], ["E: p@P; @P: y<x", "E: p@P; @P: z<x y"],
        // The renamed element is that of another entity now, or of the same entity with another name.
        ["B; E(B): b<a", "B: c<b; E(B): b"], ["B; E(B): b<a", "B: c<a; E(B): b"], ["B; E(B): b<a", "B: b<a; E(B)"],
        ["B; E(B): >b<a", "B: >c<b; E(B): >b"],
        ["E<D: b<a", "F<D: b<a; E: b"], ["E: b<a", "F<E: b<a; E: b"], ["E: b<a", "F<E: c<b b; E: b"],
    ])
    func anElementThatWasRenamedAgainHasItsIdentifier(_ spellings: [String]) throws {
        try expect([], in: spellings)
    }

    /// The first name replaces the middle name as the identifier.
    @Test(arguments: [
        ["E: a", "E: b<a", "E: c<b", "E: c<a"], ["E: a", "E: b<a", "E: c<b b", "E: c<a b"],
        ["E: >a", "E: >b<a", "E: >c<b >b", "E: >c<a >b"], ["D", "E<D", "F<E; E", "F<D; E"],
        ["D: a", "E<D: b<a", "F<D: c<b b", "F<D: c<a b"], ["D: a", "E<D: b<a", "F<E: c<b b", "F<D: c<a b"],
        ["B: a; E(B)", "B: b<a; E(B)", "B: c<b b; E(B)", "B: c<a b; E(B)"],
    ])
    func theFirstNameAsTheIdentifierLosesNothing(_ spellings: [String]) throws {
        try expect([], in: spellings)
    }

    @Test(arguments: [
        (["E: a", "E: b<a", "E: b"], "E.b (from a)"),
        (["E: b<a", "E: b<z c"], "E.b (from a)"),
        // The other element only looks similar.
        (["E: b<a", "E: b b2<aa"], "E.b (from a)"),
        (["E: b<a", "E: b a"], "E.b (from a)"),
        (["E: b<a", "E: b >c<b"], "E.b (from a)"),
        (["E: b<a; F: b", "E: b; F: c<b"], "E.b (from a)"),
        (["E: >b<a", "E: >b c<b"], "E.b (from a)"),
        (["E: p@P; @P: y<x", "E: p@P; @P: y z<xx"], "E.p.y (from p.x)"),
        (["E<D", "E; F<DD"], "E (from D)"),
        // The element says that it is the one with its name.
        (["E: b<a", "E: b<b c<b"], "E.b (from a)"),
        (["E: z b<z", "E: z<z b c"], "E.b (from z)"),
        // A sub-entity takes the values from its own rows alone.
        (["B: b<a; E(B)", "B: b; E(B): c<b"], "B.b (from a)"),
        (["B; E(B): b<a", "B: b; E(B)"], "E.b (from a)"),
        (["B: b<a; E: x<a", "B: b<a; E(B): x"], "E.x (from a)"),
        // No store is migrated, so each name keeps its values.
        (["E: b<a c", "E: b c<a"], "E.b (from a)"),
        (["E: b<a", "F<E: b; E: b"], "F.b (from a)"),
        // The other identifier does not lead to the first name.
        (["E: a z", "E: b<a z", "E: c<b z", "E: c<z"], "E.c (from b)"),
        (["E: a", "E: b<a", "E: b<a c<z", "E: b c<z"], "E.b (from a)"),
    ])
    func anElementThatKeepsItsNameCanLoseItsIdentifier(_ spellings: [String], _ dropped: String) throws {
        try expect([dropped], in: spellings)
    }

    @Test(arguments: [["E: b<a", "E: c"], ["E<D", "F"], ["E: >b<a", "E: c"], ["E: p@P; @P: y<x", "E: p@P; @P: z"]])
    func anElementThatIsGoneHasNoValuesToLose(_ spellings: [String]) throws {
        try expect([], in: spellings)
    }
}
