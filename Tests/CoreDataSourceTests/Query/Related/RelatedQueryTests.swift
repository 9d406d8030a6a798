import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import TestSupport
import Testing

/// Key paths along relationships, in all three forms of a predicate, in orders, values, aggregates and changes.
@MainActor
struct RelatedQueryTests {
    /// Two threads and a message without one: `a` of Guan with `a1` and `a2`, `b` of Zhang with `b1`; `c1` belongs to none.
    private func withMail(
        _ place: StorePlace = .sqlite, _ body: @MainActor (PersistentContainer, MailDataSource) async throws -> Void
    ) async throws {
        try await place.withMail { container, mail in
            try await mail.perform { context in
                let (guan, zhang) = (try context.insert(MailPerson.self), try context.insert(MailPerson.self))
                (guan.name, zhang.name, guan.age, zhang.boss) = ("Guan", "Zhang", 40, guan)
                let (a, b) = (try context.insert(MailThread.self), try context.insert(MailThread.self))
                (a.title, b.title, a.rank, b.rank, a.owner, b.owner) = ("a", "b", 2, 1, guan, zhang)
                let tag = try context.insert(MailTag.self)
                tag.name = "red"
                for (subject, thread, size) in [("a1", a, 1), ("a2", a, 5), ("b1", b, 3), ("c1", nil, 4)] {
                    let message = try context.insert(MailMessage.self)
                    (message.subject, message.thread, message.size) = (subject, thread, Int64(size))
                    message.author = guan
                    if subject == "a2" { message.tags = [tag] }
                }
            }
            try await body(container, mail)
        }
    }

    private func subjects(_ mail: MailDataSource, _ predicate: FetchPredicate<MailMessage>) throws -> [String?] {
        try mail.main.fetch(MailMessage.self, where: predicate).map(\.subject)
    }

    private func titles(_ mail: MailDataSource, _ predicate: FetchPredicate<MailThread>) throws -> [String?] {
        try mail.main.fetch(MailThread.self, where: predicate).map(\.title)
    }

    // MARK: To one

    /// An object cannot be sent to a predicate, but its id can.
    @Test(arguments: StorePlace.local) func aPredicateOfFoundationComparesIdentifiers(place: StorePlace) async throws {
        try await withMail(place) { _, mail in
            let b = try #require(try mail.main.first(MailThread.self, where: \.title, equals: "b")).objectID
            let c1 = try #require(try mail.main.first(MailMessage.self, where: \.subject, equals: "c1")).objectID
            let (ids, none): ([ManagedObjectID], ManagedObjectID?) = ([b, c1], nil)
            let predicates: [(Predicate<MailMessage>, [String])] = [
                (#Predicate { $0.thread?.objectID == b }, ["b1"]),
                (#Predicate { b == $0.thread?.objectID }, ["b1"]),
                (#Predicate { $0.thread?.objectID != b }, ["a1", "a2", "c1"]),
                (#Predicate { $0.thread?.objectID == none }, ["c1"]),
                (#Predicate { $0.objectID == c1 }, ["c1"]),
                (#Predicate { $0.objectID != c1 }, ["a1", "a2", "b1"]),
                (#Predicate { ids.contains($0.objectID) }, ["c1"]),
                (#Predicate { $0.thread?.owner?.boss?.objectID == none }, ["a1", "a2", "c1"]),
                (#Predicate { $0.thread?.messages.contains { $0.objectID == c1 } != true }, ["a1", "a2", "b1", "c1"]),
            ]
            for (number, (predicate, expected)) in predicates.enumerated() {
                let predicate = FetchPredicate(predicate)
                #expect(predicate.needsObjects == nil, "\(number)")
                #expect(try self.subjects(mail, predicate) == expected, "\(number)")
            }
        }
    }

    /// An id can be written down, and finds its object after a restart.
    @Test func anEncodedIdentifierFindsItsObject() async throws {
        try await withMail { container, mail in
            let b = try #require(try mail.main.first(MailThread.self, where: \.title, equals: "b")).objectID
            let json = try JSONEncoder().encode(b)
            let id = try JSONDecoder().decode(ManagedObjectID.self, from: json)
            #expect(id == b)
            #expect(id.hashValue == b.hashValue)
            #expect("\(id)" == "\(b)")
            #expect(try mail.main.object(MailThread.self, id: id)?.title == "b")
            #expect(try mail.main.objects(MailThread.self, ids: [id, b]).map(\.title) == ["b", "b"])
            #expect(try self.subjects(mail, FetchPredicate(#Predicate { $0.thread?.objectID == id })) == ["b1"])
            let unknown = Data(#"{"entity": "Unknown", "key": 1}"#.utf8)
            let stranger = try JSONDecoder().decode(ManagedObjectID.self, from: unknown)
            #expect(try mail.main.object(MailThread.self, id: stranger) == nil)
            // The key of a thread, and the name of another entity.
            let other = Data(#"{"entity": "MailMessage", "key": \#(b.key)}"#.utf8)
            let message = try JSONDecoder().decode(ManagedObjectID.self, from: other)
            #expect(message != b)
            #expect(try self.titles(mail, FetchPredicate(#Predicate { $0.objectID == b })) == ["b"])
            #expect(try self.titles(mail, FetchPredicate(#Predicate { $0.objectID == message })) == [])
            #expect(try self.titles(mail, FetchPredicate(#Predicate { $0.objectID != message })) == ["a", "b"])
        }
    }

    @Test(arguments: StorePlace.local) func anAttributeBeyondARelationshipIsComparedInAllForms(place: StorePlace)
        async throws
    {
        try await withMail(place) { _, mail in
            try #require(try mail.main.exists(MailMessage.self))
            #expect(try self.subjects(mail, \.thread?.title == "a") == ["a1", "a2"])
            #expect(try self.subjects(mail, FetchPredicate(#Predicate { $0.thread?.title == "a" })) == ["a1", "a2"])
            #expect(try self.subjects(mail, FetchPredicate(format: "thread.title == %@", "a")) == ["a1", "a2"])
            // What leads nowhere is nil, which is another value than any.
            #expect(try self.subjects(mail, \.thread?.title != "a") == ["b1", "c1"])
            #expect(try self.subjects(mail, FetchPredicate(#Predicate { $0.thread?.title != "a" })) == ["b1", "c1"])
            #expect(try self.subjects(mail, FetchPredicate(format: "thread.title != %@", "a")) == ["b1", "c1"])
            #expect(try self.subjects(mail, \.thread?.rank > 1) == ["a1", "a2"])
            #expect(try self.subjects(mail, \.thread!.rank > 1) == ["a1", "a2"])
            #expect(try self.subjects(mail, FetchPredicate(#Predicate { ($0.thread?.rank ?? 0) > 1 })) == ["a1", "a2"])
            #expect(try self.subjects(mail, \.thread?.owner?.name == "Zhang") == ["b1"])
            #expect(try self.subjects(mail, \.thread?.owner?.boss?.age == 40) == ["b1"])
            #expect(
                try self.subjects(mail, FetchPredicate(#Predicate { $0.thread?.owner?.name == "Zhang" })) == ["b1"])
            #expect(try self.subjects(mail, FetchPredicate(format: "thread.owner.name == 'Zhang'")) == ["b1"])
            #expect(try self.subjects(mail, .isIn(\.thread?.title, ["b", "x"])) == ["b1"])
            #expect(try self.subjects(mail, .contains(\.thread?.title, "A", [.caseInsensitive])) == ["a1", "a2"])
            #expect(try self.subjects(mail, FetchPredicate(format: "thread.title.length == 1 AND size > 3")) == ["a2"])
        }
    }

    @Test func aRelationshipIsComparedWithObjectsIdsAndNil() async throws {
        try await withMail { _, mail in
            let thread = try #require(try mail.main.first(MailThread.self, where: \.title, equals: "b"))
            let id = thread.objectID
            #expect(try self.subjects(mail, \.thread == thread) == ["b1"])
            #expect(try self.subjects(mail, \.thread == id) == ["b1"])
            #expect(try self.subjects(mail, \.thread != id) == ["a1", "a2", "c1"])
            #expect(try self.subjects(mail, \.thread == nil) == ["c1"])
            #expect(try self.subjects(mail, \.thread != nil) == ["a1", "a2", "b1"])
            #expect(try self.subjects(mail, .isIn(\.thread, [id])) == ["b1"])
            #expect(try self.subjects(mail, FetchPredicate(#Predicate { $0.thread == nil })) == ["c1"])
            #expect(try self.subjects(mail, FetchPredicate(format: "thread == %@", id)) == ["b1"])
            #expect(try self.subjects(mail, FetchPredicate(format: "thread IN %@", [id])) == ["b1"])
            #expect(try self.subjects(mail, FetchPredicate(format: "thread.owner == NIL")) == ["c1"])
            let message = try #require(try mail.main.first(MailMessage.self, where: \.subject, equals: "a2"))
            #expect(try self.titles(mail, .contains(\.messages, message)) == ["a"])
            #expect(try self.titles(mail, .any(\.messages, \.objectID == message.objectID)) == ["a"])
            #expect(try self.titles(mail, FetchPredicate(format: "%@ IN messages", message.objectID)) == ["a"])
            #expect(try self.titles(mail, FetchPredicate(format: "ANY messages == %@", message.objectID)) == ["a"])
        }
    }

    // MARK: To many

    @Test(arguments: StorePlace.local) func quantifiersAndCountsAreAskedInAllForms(place: StorePlace) async throws {
        try await withMail(place) { _, mail in
            try #require(try mail.main.exists(MailMessage.self))
            #expect(try self.titles(mail, .any(\.messages, \.size > 4)) == ["a"])
            #expect(try self.titles(mail, FetchPredicate(#Predicate { $0.messages.contains { $0.size > 4 } })) == ["a"])
            #expect(try self.titles(mail, FetchPredicate(format: "ANY messages.size > 4")) == ["a"])
            #expect(try self.titles(mail, .all(\.messages, \.size > 1)) == ["b"])
            #expect(
                try self.titles(mail, FetchPredicate(#Predicate { $0.messages.allSatisfy { $0.size > 1 } })) == ["b"])
            #expect(try self.titles(mail, FetchPredicate(format: "ALL messages.size > 1")) == ["b"])
            #expect(try self.titles(mail, .none(\.messages, \.size > 4)) == ["b"])
            #expect(try self.titles(mail, FetchPredicate(format: "NONE messages.size > 4")) == ["b"])
            #expect(try self.titles(mail, \.messages.count > 1) == ["a"])
            #expect(try self.titles(mail, FetchPredicate(#Predicate { $0.messages.count > 1 })) == ["a"])
            #expect(try self.titles(mail, FetchPredicate(format: "messages.@count > 1")) == ["a"])
            #expect(try self.titles(mail, FetchPredicate(format: "messages[SIZE] > 1")) == ["a"])
            #expect(
                try self.titles(
                    mail, FetchPredicate(#Predicate { $0.messages.filter { $0.size > 0 && $0.size < 4 }.count == 1 }))
                    == ["a", "b"])
            #expect(
                try self.titles(mail, FetchPredicate(format: "SUBQUERY(messages, $m, $m.size < 4).@count == 1"))
                    == ["a", "b"])
            #expect(try self.titles(mail, FetchPredicate(#Predicate { $0.messages.isEmpty })) == [])
            #expect(try self.titles(mail, FetchPredicate(format: "messages.@sum.size == 6")) == ["a"])
            #expect(try self.titles(mail, FetchPredicate(format: "messages.@max.size == 3")) == ["b"])
            #expect(try self.titles(mail, FetchPredicate(format: "messages.@min.subject == 'a1'")) == ["a"])
            #expect(try self.titles(mail, FetchPredicate(format: "messages.@avg.size == 3")) == ["a", "b"])
            #expect(try self.titles(mail, FetchPredicate(format: "ANY messages.tags.name == 'red'")) == ["a"])
            #expect(try self.subjects(mail, .any(\.tags, \.name == "red")) == ["a2"])
            #expect(try self.subjects(mail, FetchPredicate(format: "ANY thread.messages.size == 5")) == ["a1", "a2"])
        }
    }

    @Test func aSubqueryComparesWithTheObjectOutside() async throws {
        try await withMail { _, mail in
            try #require(try mail.main.exists(MailMessage.self))
            let larger = "SUBQUERY(thread.messages, $m, $m.size > size).@count == 1"
            #expect(try self.subjects(mail, FetchPredicate(format: larger)) == ["a1"])
            let isSurpassed = #Predicate<MailMessage> { message in
                message.author?.written.contains { $0.size > message.size } == true
            }
            #expect(try self.subjects(mail, FetchPredicate(isSurpassed)) == ["a1", "b1", "c1"])
            let nested =
                "SUBQUERY(messages, $m, SUBQUERY($m.tags, $t, $t.name == 'red' AND $m.size == 5).@count > 0).@count > 0"
            #expect(try self.titles(mail, FetchPredicate(format: nested)) == ["a"])
        }
    }

    /// What is nested too deep for SQLite's parser is read here, with the same answer.
    @Test(arguments: StorePlace.local) func deepSubqueriesAreAnsweredByEveryStore(place: StorePlace) async throws {
        try await withMail(place) { _, mail in
            try #require(try mail.main.exists(MailMessage.self))
            var inner = "$p7.name == 'Zhang'"
            for level in (1...7).reversed() {
                let objects = level == 1 ? "reports" : "$p\(level - 1).reports"
                inner = "SUBQUERY(\(objects), $p\(level), \(inner)).@count != 2"
            }
            let predicate = try FetchPredicate<MailPerson>(format: inner)
            #expect(try mail.main.fetch(MailPerson.self, where: predicate).map(\.name) == ["Guan", "Zhang"])
            let chain = try FetchPredicate<MailPerson>(format: "boss.boss.boss.boss.boss.boss.boss.name == NIL")
            #expect(try mail.main.count(MailPerson.self, where: chain) == 2)
        }
    }

    @Test func partsOfPredicatesKeepTheirVariablesAndOptions() async throws {
        try await withMail { _, mail in
            try #require(try mail.main.exists(MailMessage.self))
            let hasLarger = #Predicate<MailMessage> { message in
                message.thread?.messages.contains { $0.size > message.size } ?? false
            }
            #expect(try self.titles(mail, .any(\.messages, FetchPredicate(hasLarger))) == ["a"])
            #expect(try self.titles(mail, FetchPredicate(format: "'A1' IN[c] messages.subject")) == ["a"])
            #expect(try self.titles(mail, FetchPredicate(format: "'A1' IN messages.subject")) == [])
            let hidden = "SUBQUERY(messages, $m, ANY owner.written.subject == $m.subject).@count > 0"
            let predicate = try FetchPredicate<MailThread>(format: hidden)
            let error = expectError(.unsupportedQuery) { try self.titles(mail, predicate) }
            #expect(error?.message.contains("$m") == true)
        }
    }

    // MARK: Other requests

    @Test func ordersGoAlongRelationships() async throws {
        try await withMail { _, mail in try self.checkOrders(mail.main) }
    }

    private func checkOrders(_ main: MainContext) throws {
        let request = ObjectRequest(MailMessage.self, order: [.descending(\.thread?.title), .descending(\.size)])
        #expect(try main.fetch(request).map(\.subject) == ["b1", "a2", "a1", "c1"])
        var page = ObjectRequest(MailMessage.self, order: [.ascending(\.thread?.title), .ascending(\.size)])
        page.limit = 2
        let first = try main.fetch(page)
        #expect(first.map(\.subject) == ["c1", "a1"])
        page.after = first.last.map { FetchCursor($0) }
        #expect(try main.fetch(page).map(\.subject) == ["a2", "b1"])
        let thread = try #require(try main.first(MailThread.self, where: \.title, equals: "a"))
        let sorted = try thread.messages.sorted(by: [.descending(\.thread?.title), .descending(\.size)])
        #expect(sorted.map(\.subject) == ["a2", "a1"])
    }

    @Test func valuesAndAggregatesGoAlongRelationships() async throws {
        try await withMail { _, mail in try self.checkValues(mail.main) }
    }

    private func checkValues(_ main: MainContext) throws {
        let request = ObjectRequest(MailMessage.self, order: [.descending(\.thread?.title), .descending(\.size)])
        let pairs = try main.values(request, \.subject, \.thread?.title)
        #expect(pairs.map { $0.0 } == ["b1", "a2", "a1", "c1"])
        #expect(pairs.map { $0.1 } == ["b", "a", "a", nil])
        var distinct = ObjectRequest(MailMessage.self, order: [.ascending(\.thread?.title)])
        distinct.isDistinct = true
        let titles: [String?] = try main.values(distinct, \.thread?.title)
        #expect(titles == [nil, "a", "b"])
        let groups = try main.aggregate(
            ObjectRequest(MailMessage.self), groupBy: \.thread?.title, .count(), .sum(\.size))
        #expect(groups.map { $0.key } == ["a", "b", nil])
        #expect(groups.map { $0.values.0 } == [2, 1, 1])
        #expect(groups.map { $0.values.1 } == [6, 3, 4])
        let all = ObjectRequest(MailMessage.self)
        let ranks: Int64 = try main.aggregate(all, .sum(\MailMessage.thread?.rank))
        #expect(ranks == 5)
        let highest: String? = try main.aggregate(all, .max(\MailMessage.thread?.title))
        #expect(highest == "b")
    }

    @Test func manyRowsAreChangedByWhatTheyLeadTo() async throws {
        try await withMail { _, mail in
            try await mail.update(MailMessage.self, where: \.thread?.title == "a", set: [.set(\.isRead, true)])
            #expect(try self.subjects(mail, \.isRead == true) == ["a1", "a2"])
            try await mail.delete(MailMessage.self, where: \.thread?.owner?.name == "Guan" && \.size > 4)
            #expect(try self.subjects(mail, .all) == ["a1", "b1", "c1"])
        }
    }

    @Test func editsOfRelatedRowsCountInTheBatchAndBeforeTheyAreCommitted() async throws {
        try await withMail { container, mail in
            let found = try await mail.perform(waitFor: .main) { context in
                let thread = try context.first(MailThread.self, where: \.title, equals: "b")
                thread?.title = "z"
                return try context.fetch(MailMessage.self, where: \.thread?.title == "z").map(\.subject)
            }
            #expect(found == ["b1"])
            #expect(try self.subjects(mail, \.thread?.title == "z") == ["b1"])
            let count = try await container.read { try $0.count(MailMessage.self, where: \.thread?.title == "b") }
            #expect(count == 0)
        }
    }

    // MARK: How they are answered

    @Test func anIndexOfTheDestinationFindsTheRows() async throws {
        try await withMail { _, mail in
            let explanation = try mail.main.explain(ObjectRequest(MailMessage.self, where: \.thread?.title == "a"))
            #expect(explanation.sql.first?.contains(" IN (SELECT ") == true)
            #expect(explanation.steps.contains { $0.contains("USING INDEX") && $0.contains("thread") })
        }
    }

    @Test func invalidQueriesAreRefusedWithASentence() async throws {
        try await withMail { _, mail in
            try #require(try mail.main.exists(MailMessage.self))
            for (format, code, word) in [
                ("messages.size > 1", DataSourceError.Code.unsupportedQuery, "ANY"),
                ("messages == 1", .unsupportedQuery, "@count"),
                ("ANY title == 'a'", .unsupportedQuery, "one value"),
                ("messages.@floor.size > 1", .unsupportedQuery, "@count"),
                ("messages[FIRST].size > 1", .unsupportedQuery, "messages[FIRST] is not supported"),
                ("messages[last].size > 1", .unsupportedQuery, "$x.KEY == VALUE AND $x.size == VALUE).@count > 0"),
                ("owner.written[0].size > 1", .unsupportedQuery, "such as written.@min.size"),
                ("messages[FIRST] == NULL", .unsupportedQuery, "AND $x == VALUE).@count > 0"),
                ("ANY messages[7].size > 1", .unsupportedQuery, "messages[7] is not supported"),
                ("messages.@sum.subject > 1", .invalidPredicate, "@sum"),
                ("messages.@count.size > 1", .invalidPredicate, "@count"),
                ("owner.nothing == 1", .unknownAttribute, "nothing"),
                ("owner.name.size == 1", .unknownAttribute, "size"),
                ("SUBQUERY(title, $m, $m.size > 1).@count > 0", .invalidPredicate, "to-many"),
                ("SUBQUERY(messages, $m, $x.size > 1).@count > 0", .invalidPredicate, "$x"),
                ("SUBQUERY(messages, $m, $m.size > 1) > 0", .invalidPredicate, "@count"),
            ] {
                let error = expectError(code, "\(format)") {
                    try mail.main.fetch(MailThread.self, where: FetchPredicate(format: format))
                }
                #expect(error?.message.contains(word) == true, "\(format): \(error?.message ?? "")")
            }
        }
    }
}
