import CoreDataSource
import Testing

extension SemanticsCase {
    static let deleteRules: [SemanticsCase] = nullify + cascade + deny + noAction

    private static let nullify: [SemanticsCase] = [
        SemanticsCase(312, "Nullify sets the inverse to nil and leaves the object") {
            $0.change("Topic", "letters") { $0.deleteRule = .nullify }
        } check: { container, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            try await source.delete(Topic.self, where: nil)
            let letter = try #require(try container.main.first(Letter.self))
            #expect(letter.topic == nil)
        },
        SemanticsCase(312, "Nullify takes the object out of a to-many inverse") { container, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            let topic = try #require(try container.main.first(Topic.self))
            #expect(topic.letters.count == 1)
            try await source.delete(Letter.self, where: nil)
            #expect(topic.letters.isEmpty && !topic.isDeleted)
        },
        SemanticsCase(312, "where the inverse is mandatory, the save of a deletion that nullifies it fails") {
            $0.change("Person", "passport") { $0.deleteRule = .nullify }
        } check: { _, source in
            try await source.perform { try $0.passport("1").holder = $0.person("p") }
            try await source.expectRefusal(.validationFailed, "Passport", "holder") {
                $0.delete(try $0.person("p"))
            }
        },
        SemanticsCase(312, "unless the other object is deleted or leads to another one by then") {
            $0.change("Person", "passport") { $0.deleteRule = .nullify }
        } check: { container, source in
            try await source.perform {
                try $0.passport("1").holder = $0.person("p")
                try $0.passport("2").holder = $0.person("q")
            }
            try await source.perform { context in
                context.delete(try context.person("p"))
                context.delete(try context.passport("1"))
                context.delete(try context.person("q"))
                try context.passport("2").holder = context.person("r")
            }
            #expect(try container.main.fetch(Passport.self).map { $0.holder?.key } == ["r"])
        },
        SemanticsCase(312, "Nullify that empties a mandatory to-many fails too") {
            $0.change("Label", "letters") { $0.isOptional = false }
        } check: { _, source in
            try await source.perform { try $0.label("l").letters = [$0.letter("a"), $0.letter("b")] }
            try await source.perform { $0.delete(try $0.letter("a")) }
            try await source.expectRefusal(.validationFailed, "Label", "letters") { $0.delete(try $0.letter("b")) }
        },
        SemanticsCase(312, "Nullify takes a partner of its own inverse away from the other") { container, source in
            try await source.perform { try $0.person("a").spouse = $0.person("b") }
            try await source.perform { $0.delete(try $0.person("a")) }
            #expect(try container.main.fetch(Person.self).map { $0.spouse?.key } == [nil])
        },
        SemanticsCase(312, "Nullify keeps the order of those that stay") { container, source in
            try await source.perform { context in
                try context.label("l").letters = ["c", "a", "b", "d"].map(context.letter)
            }
            try await source.perform { $0.delete(try $0.letter("a")) }
            #expect(try container.main.first(Label.self)?.letters.map(\.key) == ["c", "b", "d"])
        },
        SemanticsCase(143, "links without an inverse are nullified when their destination is deleted") {
            container, source in
            try await source.perform { context in
                try context.letter("a").readBy = context.person("p")
                try context.folder("f").letters.insert(context.letter("b"))
            }
            try await source.perform { context in
                context.delete(try context.person("p"))
                context.delete(try context.letter("b"))
            }
            #expect(try container.main.first(Letter.self)?.readBy == nil)
            #expect(try container.main.first(Folder.self)?.letters.isEmpty == true)
        },
    ]

    private static let cascade: [SemanticsCase] = [
        SemanticsCase(312, "Cascade deletes destinations, recursively") { container, source in
            try await source.perform { context in
                try context.letter("a").topic = context.topic("t")
                try context.letter("a").attachments = [context.attachment("1"), context.attachment("2")]
            }
            try await source.delete(Topic.self, where: nil)
            #expect(try container.main.count(Letter.self) == 0 && container.main.count(Attachment.self) == 0)
        },
        SemanticsCase(312, "Cascade along a to-one relationship") { container, source in
            try await source.perform { try $0.passport("1").holder = $0.person("p") }
            try await source.delete(Person.self, where: nil)
            #expect(try container.main.count(Passport.self) == 0)
        },
        SemanticsCase(312, "Cascade is safe in cycles") { container, source in
            try await source.perform { context in
                for number in 0..<3 {
                    try context.folder("\(number)").parent = context.folder("\((number + 1) % 3)")
                }
                try context.folder("own").parent = context.folder("own")
            }
            try await source.perform { context in
                context.delete(try context.folder("0"))
                context.delete(try context.folder("own"))
            }
            #expect(try container.main.count(Folder.self) == 0)
        },
        SemanticsCase(312, "an object that several paths of a cascade lead to is deleted once") {
            $0.change("Person", "letters") { $0.deleteRule = .cascade }
        } check: { container, source in
            try await source.perform { context in
                try context.letter("a").topic = context.topic("t")
                try context.letter("a").author = context.person("p")
            }
            try await source.perform { context in
                context.delete(try context.topic("t"))
                context.delete(try context.person("p"))
            }
            #expect(try container.main.count(Letter.self) == 0)
            #expect(try container.main.count(Topic.self) + container.main.count(Person.self) == 0)
        },
        SemanticsCase(313, "a rule says what happens to destinations, and not what happens to the source") {
            container, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            try await source.delete(Letter.self, where: nil)
            #expect(try container.main.count(Topic.self) == 1)
        },
        SemanticsCase(237, "Cascades run before the next fetch; until then the destinations are there") {
            container, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            try await source.perform { context in
                let letter = try context.letter("a")
                context.delete(try context.topic("t"))
                #expect(!letter.isDeleted && letter.topic == nil)
                #expect(try context.count(Letter.self) == 0)
                #expect(letter.isDeleted)
            }
            #expect(try container.main.count(Letter.self) == 0)
        },
        SemanticsCase(238, "what was inserted and is reached by a cascade in the same batch is not saved") {
            container, source in
            try await source.perform { context in
                try context.letter("a").topic = context.topic("t")
                context.delete(try context.topic("t"))
            }
            #expect(container.stack.root.newestSave == 0)
            #expect(try container.main.count(Letter.self) == 0)
        },
        SemanticsCase(237, "an object that was moved away before the next fetch is not reached") { container, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            try await source.perform { context in
                let (letter, other) = (try context.letter("a"), try context.topic("other"))
                context.delete(try context.topic("t"))
                letter.topic = other
            }
            #expect(try container.main.first(Letter.self)?.topic?.key == "other")
        },
        SemanticsCase(240, "an object may be deleted repeatedly") { container, source in
            try await source.perform { try $0.letter("a").topic = $0.topic("t") }
            try await source.perform { context in
                let topic = try context.topic("t")
                context.delete(topic)
                context.delete(topic)
                #expect(topic.isDeleted)
            }
            #expect(try container.main.count(Topic.self) == 0)
        },
    ]

    private static let deny: [SemanticsCase] = [
        SemanticsCase(312, "Deny accepts the deletion in memory and refuses the save") { _, source in
            try await source.perform { try $0.letter("a").author = $0.person("p") }
            try await source.expectRefusal(.deletionDenied, "Person", "letters") { context in
                let person = try context.person("p")
                context.delete(person)
                #expect(person.isDeleted)
            }
        },
        SemanticsCase(312, "Deny does not count destinations that were taken out") { container, source in
            try await source.perform { try $0.letter("a").author = $0.person("p") }
            try await source.perform { context in
                try context.letter("a").author = nil
                context.delete(try context.person("p"))
            }
            #expect(try container.main.count(Person.self) == 0)
        },
        SemanticsCase(312, "Deny does not count destinations that are deleted themselves") { container, source in
            try await source.perform { context in
                try context.letter("a").author = context.person("p")
                try context.letter("b").author = context.person("p")
                try context.letter("b").topic = context.topic("t")
            }
            try await source.perform { context in
                context.delete(try context.person("p"))
                context.delete(try context.letter("a"))
                context.delete(try context.topic("t"))
            }
            #expect(try container.main.count(Person.self) == 0 && container.main.count(Letter.self) == 0)
        },
        SemanticsCase(312, "Deny lets go what leads nowhere") { container, source in
            try await source.perform { _ = try $0.person("p") }
            try await source.delete(Person.self, where: nil)
            #expect(try container.main.count(Person.self) == 0)
        },
        SemanticsCase(312, "Deny of an object that a cascade reaches refuses the whole deletion") {
            $0.change("Letter", "attachments") { $0.deleteRule = .deny }
        } check: { _, source in
            try await source.perform { context in
                try context.letter("a").topic = context.topic("t")
                try context.letter("a").attachments = [context.attachment("1")]
            }
            try await source.expectRefusal(.deletionDenied, "Letter", "attachments") {
                $0.delete(try $0.topic("t"))
            }
        },
        SemanticsCase(312, "Deny along a to-one relationship") {
            $0.change("Person", "passport") { $0.deleteRule = .deny }
        } check: { _, source in
            try await source.perform { try $0.passport("1").holder = $0.person("p") }
            try await source.expectRefusal(.deletionDenied, "Person", "passport") { $0.delete(try $0.person("p")) }
        },
        SemanticsCase(312, "Deny of a many-to-many relationship") {
            $0.change("Letter", "labels") { $0.deleteRule = .deny }
        } check: { container, source in
            try await source.perform { try $0.letter("a").labels.insert($0.label("l")) }
            try await source.expectRefusal(.deletionDenied, "Letter", "labels") { $0.delete(try $0.letter("a")) }
            try await source.perform { context in
                context.delete(try context.letter("a"))
                context.delete(try context.label("l"))
            }
            #expect(try container.main.count(Letter.self) == 0)
        },
    ]

    private static let noAction: [SemanticsCase] = [
        SemanticsCase(312, "No Action leaves the destination untouched") { container, source in
            try await source.perform { try $0.cat("c").keeper = $0.person("p") }
            let report = try await source.delete(Person.self, where: nil)
            #expect(report.updated == 0 && report.deleted == 1)
            #expect(try container.main.count(Cat.self) == 1)
        },
        SemanticsCase(312, "what No Action leaves dangling reads as nil, and can be repaired") { container, source in
            try await source.perform { try $0.cat("c").keeper = $0.person("p") }
            try await source.delete(Person.self, where: nil)
            let cat = try #require(try container.main.first(Cat.self))
            #expect(cat.keeper == nil)
            try await source.perform { try $0.cat("c").keeper = $0.person("q") }
            #expect(cat.keeper?.key == "q" && cat.keeper?.animals.map(\.key) == ["c"])
        },
        SemanticsCase(312, "what No Action leaves dangling can be set to nil") { container, source in
            try await source.perform { try $0.cat("c").keeper = $0.person("p") }
            try await source.delete(Person.self, where: nil)
            try await source.perform { try $0.cat("c").keeper = nil }
            let layout = try #require(container.stack.layout.entity(named: "Cat"))
            let column = try #require(layout.column(named: "keeper"))
            let rows = try container.stack.root.rows.rows(.init(entity: layout.index), layout).rows
            #expect(rows.map { $0.row.isNull(column) } == [true])
        },
        SemanticsCase(312, "No Action of a many-to-many relationship leaves no link") {
            $0.change("Label", "letters") { $0.deleteRule = .noAction }
        } check: { container, source in
            try await source.perform { try $0.letter("a").labels.insert($0.label("l")) }
            try await source.delete(Label.self, where: nil)
            #expect(try container.main.first(Letter.self)?.labels.isEmpty == true)
            #expect(try container.lostLinks() == [])
        },
    ]
}
