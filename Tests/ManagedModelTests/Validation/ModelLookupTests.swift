import ManagedModel
import Testing

struct ModelLookupTests {
    /// Trees of several depths, a lone entity, a cycle, and an entity whose parent is unknown.
    @Test func theFamilyOfEachNameIsThatOfTheModel() {
        let parents: [(name: String, parent: String?)] = [
            ("M", nil), ("C", "M"), ("A", "C"), ("Z", "C"), ("B", "M"), ("K", "A"), ("Lone", nil), ("R", "S"),
            ("S", "R"),
            ("Orphan", "Nobody"), ("D", nil), ("E", "D"),
        ]
        let model = ManagedObjectModel(
            name: "Model", entities: parents.map { EntityDescription(name: $0.name, parentName: $0.parent) })
        let lookup = ModelLookup(model)
        for name in parents.map(\.name) + ["Nobody", "Missing"] {
            #expect(
                lookup.family(ofEntityNamed: name).map(\.name) == model.family(ofEntityNamed: name).map(\.name),
                "\(name)")
        }
        #expect(lookup.family(ofEntityNamed: "C").map(\.name) == ["A", "C", "K", "Z"])
        #expect(lookup.parentNames == ["A", "C", "D", "M", "Nobody", "R", "S"])
    }
}
