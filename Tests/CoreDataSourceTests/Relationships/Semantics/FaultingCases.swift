import CoreDataSource
import Testing

extension SemanticsCase {
    static let faulting: [SemanticsCase] = [
        SemanticsCase(227, "a context has one object of an id, whichever way leads to it") { container, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            let letter = try #require(try container.main.first(Letter.self))
            let topic = try #require(try container.main.first(Topic.self))
            #expect(letter.topic === topic)
            #expect(topic.letters.contains { $0 === letter })
            try await source.perform { context in
                let letter = try context.letter("a")
                #expect(letter.topic === (try context.topic("t")))
            }
        },
        SemanticsCase(230, "a link to a row that is gone reads as nil, and its object has no values of nil and 0") {
            container, source in
            try await source.perform { context in
                let place = try context.insert(Station.self)
                place.key = "p"
                try context.letter("a").place = place
            }
            let letter = try #require(try container.main.first(Letter.self))
            let place = try #require(letter.place)
            try await source.delete(Station.self, where: nil)
            #expect(letter.place == nil)
            #expect(place.isDeleted && place.key == "p")
        },
        SemanticsCase(290, "a deleted object that somebody holds is marked, and its values remain") {
            container, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            let letter = try #require(try container.main.first(Letter.self))
            try await source.delete(Topic.self, where: nil)
            #expect(letter.isDeleted && letter.key == "a")
        },
        SemanticsCase(246, "relationships show what is not saved yet, and queries too") { _, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            try await source.perform { context in
                let topic = try context.topic("t")
                try context.letter("b").topic = topic
                #expect(topic.letters.map(\.key) == ["a", "b"])
                context.delete(try context.letter("a"))
                #expect(topic.letters.map(\.key) == ["b"] && topic.letters.count == 1)
                #expect(try context.count(Letter.self) == 1)
            }
        },
        SemanticsCase(254, "main shows links of later saves without being asked to refresh") { container, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            let topic = try #require(try container.main.first(Topic.self))
            #expect(topic.letters.count == 1)
            try await source.perform { context in
                try context.letter("b").topic = context.topic("t")
                try context.letter("a").topic = nil
            }
            #expect(topic.letters.map(\.key) == ["b"])
        },
        SemanticsCase(257, "an id is final when the object is inserted, and links lead to it after the save") {
            container, source in
            let ids = try await source.perform { context in
                let (letter, topic) = (try context.letter("a"), try context.topic("t"))
                letter.topic = topic
                #expect(topic.letters.ids == [letter.objectID])
                return [letter.objectID, topic.objectID]
            }
            let letter = try #require(try container.main.object(Letter.self, id: ids[0]))
            #expect(letter.topic?.objectID == ids[1] && letter.topic?.letters.ids == [ids[0]])
        },
        SemanticsCase(228, "a context does not keep what nobody holds, and reads it again when it is asked") {
            container, source in
            try await source.perform { context in
                for number in 0..<50 { try context.letter("\(number)").topic = context.topic("t") }
            }
            for _ in 0..<3 {
                let topic = try #require(try container.main.first(Topic.self))
                #expect(topic.letters.map(\.key).count == 50)
            }
        },
        SemanticsCase(242, "after a reset objects of main are deleted ones and lead nowhere") { container, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            let topic = try #require(try container.main.first(Topic.self))
            let letter = try #require(topic.letters.first { _ in true })
            try await container.reset()
            #expect(topic.isDeleted && letter.isDeleted)
            #expect(topic.letters.isEmpty && letter.topic == nil)
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            #expect(try container.main.first(Letter.self)?.topic?.letters.count == 1)
        },
        SemanticsCase(289, "another context's changes do not become part of a batch's own") { container, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            let newest = container.stack.root.newestSave
            try await source.perform { context in
                let topic = try context.topic("t")
                #expect(topic.letters.count == 1)
            }
            #expect(container.stack.root.newestSave == newest)
        },
    ]
}
