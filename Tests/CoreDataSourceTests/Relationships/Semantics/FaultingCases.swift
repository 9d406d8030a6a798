import CoreDataSource
import ErrorExpectations
import Testing

extension SemanticsCase {
    static let faulting: [SemanticsCase] = objects + reading

    private static let objects: [SemanticsCase] = [
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

    private static let reading: [SemanticsCase] = [
        SemanticsCase(229, "what is read after a bulk change is new, without a refresh") { container, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            let topic = try #require(try container.main.first(Letter.self)?.topic)
            try await source.update(Topic.self, set: [.set(\.title, "new")])
            #expect(topic.title == "new")
            // The private context had the object, too.
            #expect(try await source.perform { try $0.topic("t").title } == "new")
        },
        SemanticsCase(231, "reading an object again keeps its unsaved values and links, and a rollback drops them") {
            _, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            try await source.perform { context in
                let letter = try context.letter("a")
                (letter.subject, letter.topic) = ("edited", try context.topic("other"))
                #expect(try context.fetch(Letter.self).first === letter)
                #expect(letter.subject == "edited" && letter.topic?.key == "other")
                context.rollback()
                #expect(letter.subject.isEmpty && letter.topic?.key == "t")
            }
        },
        SemanticsCase(248, "a fetch reads values and includes sub-entities; links are read for all objects together") {
            container, source in
            try await source.perform { context in
                for number in 0..<20 {
                    try context.cat("c\(number)").keeper = context.person("\(number)")
                    try context.dog("d\(number)").keeper = context.person("\(number)")
                }
            }
            let start = container.statementCount
            let animals = try container.main.fetch(Animal.self)
            let fetched = container.statementCount
            #expect(animals.count == 40 && Set(animals.map(\.key)).count == 40)
            #expect(container.statementCount == fetched && fetched - start <= 2)
            #expect(animals.allSatisfy { $0.keeper?.key == String($0.key.dropFirst()) })
            // One for each entity at the most.
            #expect(container.statementCount - fetched <= 2)
        },
        SemanticsCase(306, "a bulk deletion applies all delete rules, and objects that are held show it") {
            container, source in
            try await source.perform { context in
                try context.letter("a").topic = context.topic("t")
                try context.letter("b").topic = context.topic("other")
                try context.letter("b").author = context.person("p")
            }
            let letter = try #require(try container.main.first(Letter.self, where: \.key, equals: "a"))
            try await source.delete(Topic.self, where: \.key == "t")
            #expect(letter.isDeleted)
            #expect(try container.main.fetch(Letter.self).map(\.key) == ["b"])
            await expectError(.deletionDenied) { try await source.delete(Person.self, where: nil) }
        },
    ]
}
