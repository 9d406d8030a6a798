import CoreDataSource
import Foundation
import Testing

/// The objects of reports are main's, and have the newest values.
@MainActor
struct ReportedObjectTests: ItemListSuite {
    /// Main merges both saves at once.
    @Test(arguments: [false, true])
    func aRowThatLeavesAndChangesHasItsNewestValues(isPaused: Bool) async throws {
        try await withChat(.sqlite) { container, senders in
            try await senders.add(items(0..<4))
            let recorder = GroupRecorder()
            try senders.register(recorder, dataKey: "list", ObjectRequest(Item.self, where: \.number < 3))
            if isPaused { senders.pausedDataKeys = ["list"] }
            for number in [50, 99] as [Int64] {
                try senders.performAndWait { try $0.first(Sender.self, where: \.key, equals: "k1")?.number = number }
                if isPaused { container.mainTier.merge() }
            }
            container.mainTier.merge()
            senders.pausedDataKeys = []
            #expect(recorder.types == [[.delete]])
            let found = try senders.main.fetch(Item.self, where: \.number == 99)
            #expect(found.map(\.number) == [99])
            #expect(found.first === recorder.changes.first?.object)
            #expect(found.first?.isDeleted == false)
        }
    }

    @Test(arguments: [false, true])
    func aRowThatLeavesAndIsDeletedIsReportedDeleted(isPaused: Bool) async throws {
        try await withChat(.sqlite) { container, senders in
            try await senders.add(items(0..<4))
            let recorder = GroupRecorder()
            try senders.register(recorder, dataKey: "list", ObjectRequest(Item.self, where: \.number < 3))
            if isPaused { senders.pausedDataKeys = ["list"] }
            try senders.performAndWait { try $0.first(Sender.self, where: \.key, equals: "k1")?.number = 50 }
            if isPaused { container.mainTier.merge() }
            try senders.performAndWait { context in
                if let sender = try context.first(Sender.self, where: \.key, equals: "k1") { context.delete(sender) }
            }
            container.mainTier.merge()
            senders.pausedDataKeys = []
            #expect(recorder.changes.map(\.object.isDeleted) == [true])
        }
    }

    @Test func aDeletedObjectIsTheOneThatMainHad() async throws {
        try await withChat(.sqlite) { container, senders in
            try await senders.add(items(0..<2))
            let recorder = GroupRecorder()
            try senders.register(recorder, dataKey: "list", ObjectRequest(Item.self))
            let held = try #require(try senders.main.first(Item.self, where: \.key == "k1"))
            try await senders.delete(ItemData(key: "k1", number: 1), waitFor: .main)
            #expect(recorder.types == [[.delete]])
            #expect(held.isDeleted && recorder.changes.first?.object === held)
        }
    }

    /// A fetch has met the deletion before the list reports it.
    @Test func aReportHasTheKnownDeletedObjectEvenAfterAFetch() async throws {
        try await withChat(.sqlite) { container, senders in
            try await senders.add(items(0..<2))
            let recorder = GroupRecorder()
            try senders.register(recorder, dataKey: "list", ObjectRequest(Item.self))
            let held = try #require(try senders.main.first(Item.self, where: \.key == "k1"))
            try senders.performAndWait { try $0.delete(Sender.self, where: \.key == "k1") }
            for _ in 0..<2 { #expect(try senders.main.fetch(Item.self).count == 1) }
            #expect(recorder.groups.isEmpty && held.isDeleted)
            #expect(senders.allObjects(dataKey: "list").last === held)
            container.mainTier.merge()
            #expect(recorder.types == [[.delete]])
            #expect(recorder.changes.first?.object === held)
        }
    }

    /// Rows that a paused window has lost may be anywhere by now.
    @Test func objectsThatLeaveAPausedWindowHaveTheirNewestValues() async throws {
        try await withChat(.sqlite) { container, senders in
            try await senders.add(items(10..<90))
            let recorder = GroupRecorder()
            try senders.register(
                recorder, dataKey: "list", ObjectRequest(Item.self, order: [.ascending(\.number)], limit: 5))
            senders.pausedDataKeys = ["list"]
            try await senders.add(
                items(0..<9).map { ItemData(key: "new \($0.key)", number: $0.number) }, waitFor: .main)
            try await senders.add(items(10..<15, times: 100), waitFor: .main)
            try await senders.delete(ItemData(key: "k11", number: 0), waitFor: .main)
            senders.pausedDataKeys = []
            let left = recorder.changes.filter { $0.type == .delete }
            #expect(left.count == 5)
            for change in left {
                guard let item = change.object as? Item else { continue }
                #expect(item.isDeleted == (item.key == "k11"))
                if !item.isDeleted { #expect(item.number >= 1_000) }
            }
            #expect(try senders.main.fetch(Item.self, where: \.number >= 1_000).allSatisfy { $0.number >= 1_000 })
        }
    }

    @Test(arguments: [false, true])
    func aLargeReportHasNoStaleObjectsAfterAnotherSave(isPaused: Bool) async throws {
        try await withChat(.sqlite) { container, senders in
            try await senders.add(items(0..<200))
            let recorder = GroupRecorder()
            try senders.register(recorder, dataKey: "list", ObjectRequest(Item.self, order: [.ascending(\.number)]))
            recorder.onObject = { _ in
                recorder.onObject = { _ in }
                do {
                    try senders.performAndWait { context in
                        for sender in try context.fetch(Sender.self, where: \.number >= 150) {
                            if sender.number % 2 == 0 { context.delete(sender) } else { sender.text = "newest" }
                        }
                    }
                    #expect(try senders.main.count(ObjectRequest(Item.self, where: \.text == "newest")) == 25)
                    _ = try senders.main.first(Item.self, where: \.key, equals: "k0")
                } catch {
                    Issue.record("\(error)")
                }
            }
            if isPaused { senders.pausedDataKeys = ["list"] }
            try await senders.add(
                items(0..<200).map { ItemData(key: $0.key, number: $0.number, text: "new") }, waitFor: .main)
            senders.pausedDataKeys = []
            let group = try #require(recorder.groups.first)
            for item in group.map(\.object).compactMap({ $0 as? Item }) where item.number >= 150 {
                #expect(item.isDeleted == (item.number % 2 == 0), "\(item)")
                if !item.isDeleted { #expect(item.text == "newest") }
            }
            container.mainTier.merge()
            #expect(try senders.main.fetch(Item.self).filter { $0.number >= 150 }.allSatisfy { $0.text == "newest" })
        }
    }

    // MARK: Rows that are still there

    @Test func aRowThatLeavesAlongARelationshipIsNotDeleted() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                for number in 0..<4 {
                    let letter = try context.letter("\(number)")
                    letter.topic = try context.topic(number < 3 ? "shown" : "other")
                }
            }
            let recorder = GroupRecorder()
            try source.register(recorder, dataKey: "list", ObjectRequest(Letter.self, where: \.topic?.key == "shown"))
            try await source.perform { try $0.knownTopic("shown").key = "hidden" }
            try await source.perform { context in context.delete(try context.knownLetter("3")) }
            await container.mainTier.waitForLists()
            #expect(recorder.types == [[.delete, .delete, .delete]])
            for change in recorder.changes {
                let letter = try #require(change.object as? Letter)
                #expect(!letter.isDeleted && letter.topic?.key == "hidden")
                #expect(try source.main.first(Letter.self, where: \.key, equals: letter.key) === letter)
            }
        }
    }

    @Test func aRowThatLeavesAListThatIsReadAgainIsNotDeleted() async throws {
        try await withContainer(.sqlite) { container, url in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<4))
            let recorder = GroupRecorder()
            let old = try FetchPredicate<ContactEntity>(format: "name != 'gone'")
            try contacts.register(recorder, dataKey: "list", ObjectRequest(ContactEntity.self, where: old))
            let raw = try RawConnection(url)
            try raw.execute("UPDATE ContactEntity SET name = 'gone' WHERE uid = 'uid-1'")
            try raw.execute("DELETE FROM ContactEntity WHERE uid = 'uid-2'")
            container.stack.root.noticeOutsideWrites()
            container.mainTier.merge()
            await container.mainTier.waitForLists()
            #expect(recorder.types == [[.delete, .delete]])
            for contact in recorder.changes.compactMap({ $0.object as? ContactEntity }) {
                #expect(contact.isDeleted == (contact.uid == "uid-2"))
                let found = try contacts.main.first(ContactEntity.self, where: \.uid, equals: contact.uid)
                #expect(contact.isDeleted ? found == nil : found === contact)
            }
        }
    }

    /// The rows of a list whose predicate needs the objects are read after each save.
    @Test func aRowThatLeavesAListOfTestedObjectsIsNotDeleted() async throws {
        try await withChat(.sqlite) { container, senders in
            try await senders.add(items(0..<4).map { ItemData(key: "K\($0.number)", number: $0.number) })
            let recorder = GroupRecorder()
            let short = FetchPredicate<Item>(#Predicate { $0.key.contains { $0.isUppercase } && $0.number < 5 })
            try senders.register(recorder, dataKey: "list", ObjectRequest(Item.self, where: short))
            try await senders.add(ItemData(key: "K1", number: 50), waitFor: .main)
            await container.mainTier.waitForLists()
            #expect(recorder.types == [[.delete]])
            #expect(recorder.changes.map(\.object.isDeleted) == [false])
            let found = try senders.main.first(Item.self, where: \.key == "K1")
            #expect(found === recorder.changes.first?.object)
        }
    }

    /// A list whose rows cannot be read does not say that they are gone.
    @Test func anObjectThatCannotBeReadIsNotDeleted() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<3))
        let recorder = GroupRecorder()
        try senders.register(recorder, dataKey: "list", ObjectRequest(Item.self))
        senders.pausedDataKeys = ["list"]
        try await senders.add(ItemData(key: "k1", number: 9), waitFor: .main)
        store.failReads(with: noRoom)
        let shown = senders.allObjects(dataKey: "list", as: Item.self)
        #expect(shown.map(\.isDeleted) == [false, false, false])
        store.failReads(with: nil)
        #expect(senders.allObjects(dataKey: "list", as: Item.self).map(\.number) == [0, 9, 2])
        try await container.close()
    }
}
