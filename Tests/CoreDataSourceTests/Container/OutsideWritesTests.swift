import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import SQLiteStore
import Testing

/// Another program writes to the file while an app has it open.
@MainActor
struct OutsideWritesTests {
    private func withSaved(
        _ body: (PersistentContainer, ContactDataSource, RawConnection) async throws -> Void
    ) async throws {
        try await withContainer(.sqlite) { container, url in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            try await body(container, contacts, RawConnection(url))
        }
    }

    /// Inserts a row as another program would.
    ///
    /// - Parameter key: Nil for the highest key plus one.
    private nonisolated func insert(_ uid: String, key: Int64? = nil, _ raw: RawConnection) throws {
        let columns = try raw.column("SELECT name FROM pragma_table_info('ContactEntity')").filter {
            $0 != "_key" && $0 != "uid"
        }
        let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
        let number = key.map(String.init) ?? "(SELECT max(\"_key\") + 1 FROM \"ContactEntity\")"
        try raw.execute(
            """
            INSERT INTO "ContactEntity" ("_key", "uid", \(list))
            SELECT \(number), '\(uid)', \(list) FROM "ContactEntity" LIMIT 1
            """)
    }

    /// Each of them was read by a statement of its own; in one statement there may not be so many.
    @Test func shownObjectsAreReloadedAThousandAtATime() async throws {
        try await withContainer(.sqlite) { container, url in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<40_000))
            let shown = try contacts.fetch(ContactEntity.self)
            let raw = try RawConnection(url)
            try raw.execute("UPDATE ContactEntity SET name = 'outside'")
            try raw.execute("DELETE FROM ContactEntity WHERE uid = 'uid-7'")
            let before = container.statementCount
            container.stack.root.noticeOutsideWrites()
            #expect(try contacts.main.first(ContactEntity.self, where: \.uid == "uid-8")?.name == "outside")
            #expect(container.statementCount - before <= 50)
            #expect(shown.filter { !$0.isDeleted }.count == 39_999)
            #expect(shown.allSatisfy { $0.isDeleted || $0.name == "outside" })
        }
    }

    /// Every later insert failed, because its key was taken.
    @Test func insertsGoOnAboveAKeyThatAnotherProgramHasTaken() async throws {
        try await withSaved { container, contacts, raw in
            try insert("outside", raw)
            #expect(try await contacts.add(contactList(3..<6)) == SaveReport(inserted: 3))
            #expect(try contacts.count(ContactEntity.self) == 7)
            #expect(Set(try raw.column("SELECT \"_key\" FROM \"ContactEntity\"")).count == 7)
        }
    }

    /// The batch changes and deletes the rows of the other program beside its own new objects.
    @Test func aNewObjectDoesNotGetTheKeyOfARowThatItsBatchHasRead() async throws {
        try await withContainer(.sqlite) { first, url in
            try await first.dataSource(ContactDataSource.self).add(contactList(0..<1))
            try await first.close()
            // This container has not read the rows yet.
            let container = try await PersistentContainer(model: .contacts, store: .sqlite(url), databaseKey: "1")
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.perform(waitFor: .main) { context in
                for number in 0..<3 { try self.insert("outside-\(number)", RawConnection(url)) }
                let found = try context.fetch(ContactEntity.self, where: .beginsWith(\.uid, "outside"))
                for number in 0..<5 {
                    let contact = try context.insert(ContactEntity.self)
                    (contact.uid, contact.name) = ("inside-\(number)", "ours")
                }
                (found[0].name, found[1].name) = ("changed", "changed")
                context.delete(found[2])
            }
            let uids = (0..<5).map { "inside-\($0)" } + ["outside-0", "outside-1", "uid-0"]
            #expect(try contacts.uids() == uids)
            #expect(try contacts.main.count(ContactEntity.self, where: \.name == "changed") == 2)
            try await container.close()
        }
    }

    /// The store had set keys aside up to that one, so that all of them up to it could be given.
    @Test(arguments: [false, true])
    func insertsGoOnAboveAKeyBeyondThoseSetAside(isInABatch: Bool) async throws {
        try await withContainer(.sqlite) { container, url in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            let key = container.stack.root.store.firstFreeKey
            if isInABatch {
                try await contacts.perform { context in
                    let contact = try context.insert(ContactEntity.self)
                    (contact.uid, contact.name) = ("inside", "ours")
                    try self.insert("outside", key: key, RawConnection(url))
                }
            } else {
                try insert("outside", key: key, RawConnection(url))
            }
            #expect(try await contacts.add(contactList(3..<6)) == SaveReport(inserted: 3))
            #expect(try contacts.count(ContactEntity.self) == (isInABatch ? 8 : 7))
            let above = try RawConnection(url).column("SELECT count(*) FROM \"ContactEntity\" WHERE \"_key\" > \(key)")
            #expect(above == ["3"])
        }
    }

    /// Only the commit can notice it, for the batch has looked before.
    @Test func writesDuringABatchAreSeenAfterIt() async throws {
        try await withContainer(.sqlite) { container, url in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            let held = try #require(try contacts.main.first(ContactEntity.self, where: \.uid == "uid-1"))
            try await contacts.perform { context in
                let contact = try context.insert(ContactEntity.self)
                (contact.uid, contact.name) = ("inside", "ours")
                try RawConnection(url).execute("UPDATE \"ContactEntity\" SET \"name\" = 'changed'")
            }
            #expect(held.name == "changed")
            #expect(try await contacts.add(contactList(1..<2)) == SaveReport(updated: 1))
        }
    }

    /// `first` and `values` disagreed, and adding the app's value again lost it.
    @Test func anUpdateIsSeenAndOverwritten() async throws {
        try await withSaved { container, contacts, raw in
            let held = try #require(try contacts.main.first(ContactEntity.self, where: \.uid == "uid-1"))
            try raw.execute("UPDATE \"ContactEntity\" SET \"name\" = 'changed' WHERE \"uid\" = 'uid-1'")
            #expect(try contacts.main.first(ContactEntity.self, where: \.uid == "uid-1")?.name == "changed")
            #expect(held.name == "changed")
            let request = ObjectRequest(ContactEntity.self, where: \.uid == "uid-1")
            #expect(try contacts.main.values(request, \.name).first == "changed")
            #expect(try await contacts.add(contactList(1..<2)) == SaveReport(updated: 1))
            #expect(held.name == "name 1")
            #expect(try raw.column("SELECT \"name\" FROM \"ContactEntity\" WHERE \"uid\" = 'uid-1'") == ["name 1"])
        }
    }

    /// `add` reported that nothing had to be done, and the row was gone.
    @Test func addReinsertsARowThatAnotherProgramDeleted() async throws {
        try await withSaved { container, contacts, raw in
            let held = try #require(try contacts.main.first(ContactEntity.self, where: \.uid == "uid-1"))
            try raw.execute("DELETE FROM \"ContactEntity\" WHERE \"uid\" = 'uid-1'")
            #expect(try await contacts.add(contactList(1..<2)) == SaveReport(inserted: 1))
            #expect(held.isDeleted)
            #expect(try contacts.count(ContactEntity.self) == 3)
        }
    }

    @Test func listsFollowWhatAnotherProgramWrites() async throws {
        try await withSaved { container, contacts, raw in
            var updates = contacts.updates(ObjectRequest(ContactEntity.self, order: [.ascending(\.uid)]))
                .makeAsyncIterator()
            #expect(await updates.next()?.snapshot.count == 3)
            try raw.execute("DELETE FROM \"ContactEntity\" WHERE \"uid\" = 'uid-1'")
            // Nobody calls anything: the container looks by itself.
            let update = await updates.next()
            #expect(update?.reason.kind == .outsideWrites)
            #expect(update?.snapshot.map(\.uid) == ["uid-0", "uid-2"])
        }
    }

    /// While main shows anything the container looks twice a second, so that nothing is stale for a second.
    @Test func theContainerChecksTheFileTwiceASecond() async throws {
        let directory = try TemporaryDirectory()
        let layout = ModelLayout(.contacts)
        let identity = StoreIdentity(modelHash: "hash", entityHashes: [:], databaseKey: "1")
        let store = try SQLiteStore.open(SQLiteStore.Options(url: directory.store, layout: layout, identity: identity))
        let timers = ManualTimers()
        let container = PersistentContainer(
            layout, store, startup: store.startup, configuration: PersistentContainer.Configuration(),
            scheduling: timers.scheduling)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<3))
        let shown = try contacts.fetch(ContactEntity.self, order: [.ascending(\.uid)])
        let raw = try RawConnection(directory.store)
        for name in ["outside", "again"] {
            #expect(timers.delays.contains(.milliseconds(500)))
            try raw.execute("UPDATE ContactEntity SET name = '\(name)' WHERE uid = 'uid-1'")
            timers.fire()
            while shown[1].name != name { await Task.yield() }
        }
        try await container.close()
    }

    /// One save that could never be written failed all later ones, of every data source.
    @Test func onlyTheSaveThatCollidesIsRefused() async throws {
        try await withSaved { container, contacts, raw in
            let groups = try container.dataSource(GroupDataSource.self)
            let root = container.stack.root
            let isReady = Shared(false)
            let gate = Gate()
            // The hook looks the value up before the other program inserts it, and saves after that.
            let colliding = Task.detached {
                try await contacts.perform { context in
                    let contact = try context.insert(ContactEntity.self)
                    (contact.uid, contact.name) = ("outside", "ours")
                    #expect(try context.first(ContactEntity.self, where: \.uid == "other") == nil)
                    isReady.value = true
                    gate.wait()
                }
            }
            while !isReady.value { await Task.yield() }
            // The change is noticed only by the commit: until then the writer is kept from looking.
            try insert("outside", raw)
            gate.open()
            await expectError(.uniquenessViolated) { try await colliding.value }
            #expect(container.pendingSaveCount == 0)
            #expect(try await groups.add(GroupData(gid: "1", name: "one")) == SaveReport(inserted: 1))
            #expect(try await contacts.add(contactList(5..<6)) == SaveReport(inserted: 1))
            #expect(try contacts.main.first(ContactEntity.self, where: \.uid == "outside")?.name == "name 0")
            #expect(root.pendingSaveCount == 0)
        }
    }

    @Test func anUpdateOfADeletedRowIsRefusedAlone() async throws {
        try await withSaved { container, contacts, raw in
            let isReady = Shared(false)
            let gate = Gate()
            let updating = Task.detached {
                try await contacts.perform { context in
                    try context.first(ContactEntity.self, where: \.uid == "uid-1")?.name = "new"
                    isReady.value = true
                    gate.wait()
                }
            }
            while !isReady.value { await Task.yield() }
            try raw.execute("DELETE FROM \"ContactEntity\" WHERE \"uid\" = 'uid-1'")
            gate.open()
            await expectError(.objectGone) { try await updating.value }
            #expect(try contacts.count(ContactEntity.self) == 2)
            #expect(try await contacts.add(contactList(0..<3)) == SaveReport(inserted: 1))
        }
    }

    /// The save carried the whole row as it was before. Main, its lists and the private context took that over what the other
    /// program had written, and never read it again.
    @Test func aSaveOfRowsThatAnotherProgramChangedMeanwhileHidesNothing() async throws {
        try await withContainer(.sqlite) { container, url in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<3))
            let root = container.stack.root
            let held = try #require(try contacts.main.first(ContactEntity.self, where: \.uid == "uid-1"))
            try await contacts.perform { context in
                try context.first(ContactEntity.self, where: \.uid == "uid-1")?.name = "ours"
                try RawConnection(url).execute("UPDATE \"ContactEntity\" SET \"phone\" = '1' WHERE \"uid\" = 'uid-1'")
                // Everybody reads the row again now, and the save comes after that.
                root.noticeOutsideWrites()
            }
            #expect(
                try RawConnection(url).column("SELECT \"phone\" FROM \"ContactEntity\" WHERE \"uid\" = 'uid-1'") == [
                    "1"
                ])
            #expect(held.name == "ours")
            #expect(held.phone == "1")
            let kept = try await contacts.perform { context in
                try context.first(ContactEntity.self, where: \.uid == "uid-1")?.phone
            }
            #expect(kept == "1")
        }
    }

    /// An update by another program of another column stays.
    @Test func theLaterWriteWinsByColumn() async throws {
        try await withSaved { container, contacts, raw in
            let isReady = Shared(false)
            let gate = Gate()
            let updating = Task.detached {
                try await contacts.perform { context in
                    try context.first(ContactEntity.self, where: \.uid == "uid-1")?.name = "ours"
                    isReady.value = true
                    gate.wait()
                }
            }
            while !isReady.value { await Task.yield() }
            try raw.execute("UPDATE \"ContactEntity\" SET \"name\" = 'theirs', \"phone\" = '1' WHERE \"uid\" = 'uid-1'")
            gate.open()
            try await updating.value
            let found = try contacts.main.first(ContactEntity.self, where: \.uid == "uid-1")
            #expect(found?.name == "ours")
            #expect(found?.phone == "1")
        }
    }
}
