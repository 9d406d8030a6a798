import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Lists and live aggregates of a pinned main context stand still, and then report one difference.
@MainActor
struct PinListTests {
    private let byName = ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])

    @Test(arguments: PinPlace.all)
    func advanceReportsOneDifferenceOfASectionedList(place: PinPlace) async throws {
        try await place.withContacts { container, contacts in
            let recorder = GroupRecorder()
            try contacts.register(recorder, dataKey: "list", byName, sectionBy: \.phone)
            try container.main.pin(for: .ample)
            try await contacts.add(ContactData(uid: "uid-9", name: "b", phone: "2"), waitFor: .main)
            try await contacts.add(ContactData(uid: "uid-9", name: "c", phone: "2"), waitFor: .main)
            try await contacts.add(ContactData(uid: "uid-1", name: "a", phone: "2"), waitFor: .main)
            try await contacts.delete(contactList(4..<5), waitFor: .main)
            #expect(recorder.groups.isEmpty)
            try container.main.advance()
            await container.mainTier.waitForLists()
            #expect(recorder.groups.count == 1)
            #expect(Set(recorder.changes.map(\.type)) == [.insert, .move, .delete])
            try await contacts.delete(contactList(0..<2), waitFor: .main)
            #expect(recorder.groups.count == 1)
            container.main.unpin()
            await container.mainTier.waitForLists()
            #expect(recorder.groups.count == 2 && recorder.problems.isEmpty)
            try await contacts.delete(contactList(2..<3), waitFor: .main)
            #expect(recorder.groups.count == 3)
        }
    }

    /// A loop that gets every save gets one update for the saves that it did not see.
    @Test(arguments: PinPlace.all)
    func aLoopOverEverySaveGetsOneUpdate(place: PinPlace) async throws {
        try await place.withContacts { container, contacts in
            var updates = contacts.updates(byName, buffering: .every()).makeAsyncIterator()
            _ = await updates.next()
            try container.main.pin(for: .ample)
            for number in 1...9 {
                try await contacts.add(ContactData(uid: "uid-1", name: "\(number)"), waitFor: .main)
            }
            container.main.unpin()
            let update = try #require(await updates.next())
            #expect(update.snapshot.first?.name == "9")
            #expect(update.difference.changes.count == 1)
            try await contacts.add(ContactData(uid: "uid-1", name: "later"), waitFor: .main)
            #expect(await updates.next()?.snapshot.contains { $0.name == "later" } == true)
        }
    }

    @Test(arguments: PinPlace.all)
    func aListThatIsMadeMeanwhileShowsThePinnedRows(place: PinPlace) async throws {
        try await place.withContacts { container, contacts in
            try container.main.pin(for: .ample)
            try await contacts.add(contactList(3..<9) { "new \($0)" })
            let list = try contacts.list(byName)
            let count = try contacts.liveAggregate(ObjectRequest(ContactEntity.self), .count())
            var updates = contacts.updates(ObjectRequest(ContactEntity.self, where: \.name > "n"))
                .makeAsyncIterator()
            #expect(list.snapshot.map(\.name) == (0..<5).map { "name \($0)" })
            #expect(count.value == 5)
            #expect(await updates.next()?.snapshot.count == 5)
            container.main.unpin()
            await container.mainTier.waitForLists()
            #expect(list.snapshot.map(\.name) == (0..<3).map { "name \($0)" } + (3..<9).map { "new \($0)" })
            #expect(count.value == 9)
            #expect(await updates.next()?.snapshot.count == 9)
        }
    }

    @Test(arguments: PinPlace.all)
    func aggregatesStandStill(place: PinPlace) async throws {
        try await place.withContacts { container, contacts in
            let request = ObjectRequest(ContactEntity.self)
            let groups = try contacts.liveAggregate(request, groupBy: \.phone, .count())
            let totals = try contacts.liveAggregate(request, .count(), .max(\.name))
            try container.main.pin(for: .ample)
            try await contacts.add(contactList(5..<800) { "new \($0)" }, waitFor: .main)
            #expect(groups.value[nil] == 2 && totals.value == (5, "name 4"))
            try container.main.advance()
            await container.mainTier.waitForLists()
            #expect(groups.value[nil] == 400 && totals.value == (800, "new 99"))
        }
    }

    /// The saves that wait are dropped at the limit, and the list reads its rows once.
    @Test(arguments: PinPlace.all)
    func aListThatMustReloadReportsOneDifference(place: PinPlace) async throws {
        try await place.withContacts(5, .init(synchronous: .normal, mainBacklogByteLimit: 1)) { container, contacts in
            let recorder = GroupRecorder()
            try contacts.register(recorder, dataKey: "list", byName)
            try container.main.pin(for: .ample)
            for number in 5..<9 { try await contacts.add(contactList(number..<number + 1), waitFor: .main) }
            #expect(recorder.groups.isEmpty)
            container.main.unpin()
            await container.mainTier.waitForLists()
            #expect(recorder.types == [[.insert, .insert, .insert, .insert]])
        }
    }

    /// Large saves are merged off the main actor, and related rows are read there. The results of a read that began before the
    /// pin may be newer than the pinned rows.
    @Test(arguments: PinPlace.all)
    func aListThatWorksShowsThePinnedRowsInTheEnd(place: PinPlace) async throws {
        let directory = try TemporaryDirectory()
        let container = try await place.open(directory.store, model: .peers())
        let peers = try container.dataSource(PeerDataSource.self)
        try await peers.perform { try $0.insert(Peer.self).key = "boss" }
        let isReport = try FetchPredicate<Peer>(format: "boss.key == %@", "boss")
        let list = try peers.list(ObjectRequest(Peer.self, where: isReport, order: [.ascending(\.key)]))
        for round in 0..<20 {
            // A call off the main actor does not wait for the list, which may be reading the rows of the save.
            try await Task.detached { try await Self.insert(round * 40..<round * 40 + 20, peers) }.value
            try container.main.pin(for: .ample)
            try await Self.insert(round * 40 + 20..<round * 40 + 40, peers)
            await container.mainTier.waitForLists()
            #expect(list.snapshot.count == round * 40 + 20)
            container.main.unpin()
            await container.mainTier.waitForLists()
            #expect(list.snapshot.count == round * 40 + 40)
        }
        try await container.close()
    }

    private nonisolated static func insert(_ range: Range<Int>, _ peers: PeerDataSource) async throws {
        try await peers.perform { context in
            let boss = try context.peer("boss")
            for number in range {
                let peer = try context.insert(Peer.self)
                (peer.key, peer.boss) = ("\(number)", boss)
            }
        }
    }
}
