import CoreDataSource
import ErrorExpectations
import Testing

extension SemanticsCase {
    static let inverses: [SemanticsCase] = bothSides + counts

    private static let bothSides: [SemanticsCase] = [
        SemanticsCase(239, "setting a to-one relationship puts the object into the inverse at once") { _, source in
            try await source.perform { context in
                let (letter, topic) = (try context.letter("a"), try context.topic("t"))
                letter.topic = topic
                #expect(topic.letters.contains(letter) && topic.letters.count == 1)
                letter.topic = nil
                #expect(!topic.letters.contains(letter) && topic.letters.isEmpty)
            }
        },
        SemanticsCase(239, "inserting into a to-many relationship sets the inverse at once") { _, source in
            try await source.perform { context in
                let (letter, topic) = (try context.letter("a"), try context.topic("t"))
                topic.letters.insert(letter)
                #expect(letter.topic === topic)
                topic.letters.remove(letter)
                #expect(letter.topic == nil)
            }
        },
        SemanticsCase(239, "an object that gets another owner leaves the first one at once") { _, source in
            try await source.perform { context in
                let letter = try context.letter("a")
                let (one, other) = (try context.topic("1"), try context.topic("2"))
                letter.topic = one
                other.letters.insert(letter)
                #expect(one.letters.isEmpty && letter.topic === other)
            }
        },
        SemanticsCase(239, "a set that is replaced lets go of those that are left out") { _, source in
            try await source.perform { context in
                let topic = try context.topic("t")
                let letters = try ["a", "b", "c"].map(context.letter)
                topic.letters.set(letters.prefix(2))
                topic.letters.set(letters.suffix(2))
                #expect(letters.map { $0.topic?.key } == [nil, "t", "t"])
            }
        },
        SemanticsCase(239, "many-to-many links are seen from both sides at once") { _, source in
            try await source.perform { context in
                let (letter, label) = (try context.letter("a"), try context.label("l"))
                letter.labels.insert(label)
                #expect(label.letters.map(\.key) == ["a"])
                label.letters = []
                #expect(letter.labels.isEmpty)
            }
        },
        SemanticsCase(239, "a one-to-one link takes both ends from their partners") { _, source in
            try await source.perform { context in
                let (one, other) = (try context.passport("1"), try context.passport("2"))
                let (a, b) = (try context.person("a"), try context.person("b"))
                (one.holder, other.holder) = (a, b)
                a.passport = other
                #expect(other.holder === a && one.holder == nil && b.passport == nil)
                one.holder = b
            }
        },
        SemanticsCase(239, "inserting what is there is no change") { container, source in
            try await source.perform { try $0.letter("a").labels.insert($0.label("l")) }
            let newest = container.stack.root.newestSave
            try await source.perform { context in
                try context.letter("a").labels.insert(context.label("l"))
                try context.letter("a").labels.insert(context.label("l"))
            }
            #expect(container.stack.root.newestSave == newest)
        },
        SemanticsCase(143, "a relationship that is its own inverse is the same from both ends") { _, source in
            try await source.perform { context in
                let (a, b, c) = (try context.person("a"), try context.person("b"), try context.person("c"))
                a.friends.insert(b)
                a.spouse = b
                #expect(b.friends.map(\.key) == ["a"] && b.spouse === a)
                c.spouse = b
                #expect(a.spouse == nil && b.spouse === c)
                b.friends.remove(a)
                #expect(a.friends.isEmpty)
            }
        },
        SemanticsCase(143, "an object may be its own friend") { container, source in
            try await source.perform { try $0.person("a").friends.insert($0.person("a")) }
            #expect(try container.main.first(Person.self)?.friends.map(\.key) == ["a"])
            try await source.perform { try $0.person("a").friends.remove($0.person("a")) }
            #expect(try container.main.first(Person.self)?.friends.isEmpty == true)
        },
        SemanticsCase(143, "a relationship leads to objects of sub-entities, and their inverse is inherited") {
            container, source in
            try await source.perform { context in
                let dog = try context.insert(Dog.self)
                dog.key = "d"
                try context.person("p").animals.insert(dog)
                try context.person("p").animals.insert(context.cat("c"))
                #expect(dog.keeper?.key == "p")
            }
            #expect(try container.main.first(Person.self)?.animals.map(\.key).sorted() == ["c", "d"])
        },
        SemanticsCase(239, "linking an object that was deleted is refused") { _, source in
            try await source.expectRefusal(.objectGone, "Letter", "topic") { context in
                let topic = try context.topic("t")
                context.delete(topic)
                try context.letter("a").topic = topic
            }
        },
        SemanticsCase(242, "a rollback restores links on both sides") { _, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            try await source.perform { context in
                try context.letter("a").topic = context.topic("other")
                context.delete(try context.topic("t"))
                context.rollback()
                #expect(try context.topic("t").letters.map(\.key) == ["a"])
                #expect(try context.count(Topic.self) == 1)
            }
        },
    ]

    private static let counts: [SemanticsCase] = [
        SemanticsCase(133, "an optional to-one relationship may be nil, whatever its minimum") {
            $0.change("Letter", "topic") { $0.minimumCount = 1 }
        } check: { container, source in
            try await source.perform { _ = try $0.letter("a") }
            #expect(try container.main.count(Letter.self) == 1)
        },
        SemanticsCase(
            133, "an optional to-many relationship may be empty, whatever its minimum, and is checked from one on"
        ) {
            $0.change("Label", "letters") { $0.minimumCount = 2 }
        } check: { _, source in
            try await source.perform { _ = try $0.label("l") }
            try await source.expectRefusal(.validationFailed, "Label", "letters") {
                try $0.label("l").letters = [$0.letter("a")]
            }
            try await source.perform { try $0.label("l").letters = [$0.letter("a"), $0.letter("b")] }
        },
        SemanticsCase(134, "a maximum of a to-many relationship is one of a save") { _, source in
            try await source.expectRefusal(.validationFailed, "Person", "animals") { context in
                for number in 0..<4 { try context.person("p").animals.insert(context.cat("\(number)")) }
            }
            try await source.perform { context in
                for number in 0..<4 { try context.person("p").animals.insert(context.cat("\(number)")) }
                try context.cat("0").keeper = nil
            }
        },
        SemanticsCase(134, "a maximum of zero or less is none") {
            $0.change("Person", "animals") { $0.maximumCount = -1 }
        } check: { container, source in
            try await source.perform { context in
                for number in 0..<4 { try context.person("p").animals.insert(context.cat("\(number)")) }
            }
            #expect(try container.main.first(Person.self)?.animals.count == 4)
        },
        SemanticsCase(134, "a maximum is checked where an object changed through the inverse only") { _, source in
            try await source.perform { context in
                for number in 0..<3 { try context.person("p").animals.insert(context.cat("\(number)")) }
            }
            try await source.expectRefusal(.validationFailed, "Person", "animals") {
                try $0.cat("3").keeper = $0.person("p")
            }
        },
        SemanticsCase(141, "a mandatory to-many relationship means at least one at the save") {
            $0.change("Label", "letters") { $0.isOptional = false }
        } check: { _, source in
            try await source.expectRefusal(.validationFailed, "Label", "letters") { _ = try $0.label("l") }
            try await source.perform { try $0.letter("a").labels.insert($0.label("l")) }
            try await source.expectRefusal(.validationFailed, "Label", "letters") {
                try $0.letter("a").labels.removeAll()
            }
        },
        SemanticsCase(141, "a mandatory to-one relationship needs an object, with no minimum in the model") {
            _, source in
            try await source.expectRefusal(.validationFailed, "Passport", "holder") { _ = try $0.passport("1") }
            try await source.perform { try $0.passport("1").holder = $0.person("p") }
            try await source.expectRefusal(.validationFailed, "Passport", "holder") {
                try $0.passport("1").holder = nil
            }
        },
        SemanticsCase(319, "several broken rules come together") { _, source in
            let error = await expectError(.validationFailed) {
                try await source.perform { context in
                    for number in 0..<3 { _ = try context.passport("\(number)") }
                }
            }
            #expect(error?.failures.count == 3)
        },
    ]
}
