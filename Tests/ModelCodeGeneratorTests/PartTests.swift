import ManagedModel
import ModelCodeGenerator
import Testing

/// Large models are written to several files, so that an edit compiles few of them again.
@Suite struct PartTests {
    private static func model(_ count: Int, with change: (inout EntityDescription) -> Void = { _ in })
        -> ManagedObjectModel
    {
        var model = ManagedObjectModel(
            name: "Big",
            entities: (0..<count).map { number in
                EntityDescription(
                    name: "Entity\(number)",
                    attributes: [AttributeDescription(name: "at", type: .composite, compositeName: "Place")].filter {
                        _ in
                        number == 7
                    } + [AttributeDescription(name: "name", type: .string, isOptional: true)])
            },
            composites: [
                CompositeDescription(
                    name: "Place", attributes: [AttributeDescription(name: "x", type: .double, isOptional: true)])
            ])
        if count > 3 { change(&model.entities[3]) }
        return model
    }

    private func sources(_ model: ManagedObjectModel) -> [String] {
        ModelCodeGenerator(codeGeneration: .class).sources(for: model, parts: 6)
    }

    @Test func everyEntityIsInOneFile() {
        let sources = sources(Self.model(40))
        #expect(sources.count == 6)
        for number in 0..<40 {
            let places = sources.indices.filter { sources[$0].contains("class Entity\(number): ManagedObject {") }
            #expect(places.count == 1)
            #expect(sources.indices.filter { sources[$0].contains("func entity\(number)() ->") } == places)
            // What reads a composite is in its file.
            if number == 7 { #expect(places == [0]) } else { #expect(places != [0]) }
        }
        #expect(sources[0].contains("struct Place"))
    }

    @Test func anEditChangesOneFile() {
        let before = sources(Self.model(40))
        let edited = sources(
            Self.model(40) { $0.attributes.append(AttributeDescription(name: "more", type: .date, isOptional: true)) })
        #expect(zip(before, edited).count { $0 != $1 } == 1)
        // The model lists its entities.
        let longer = sources(Self.model(41))
        #expect(zip(before, longer).count { $0 != $1 } == 2 && before[0] != longer[0])
    }

    @Test func moreFilesThanEntitiesAreEmpty() {
        let sources = ModelCodeGenerator().sources(for: Self.model(2), parts: 30)
        #expect(sources.count == 30)
        #expect(sources.filter { !$0.contains("import") }.count >= 27)
        #expect(
            ModelCodeGenerator().sources(for: Self.model(2), parts: 0) == [
                ModelCodeGenerator().source(for: Self.model(2))
            ])
    }
}
