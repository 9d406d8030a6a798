import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// A unique value that another object has now is a conflict of a revert, an undo and a redo.
@MainActor
struct UniqueConflictTests {
    private func withLodge(
        _ place: HistoryPlace, _ body: @MainActor (PersistentContainer, LodgeSource) async throws -> Void
    ) async throws {
        try await place.withContainer(model: .lodge) { container, _ in
            try await body(container, try container.dataSource(LodgeSource.self))
        }
    }

    /// The user deletes a lodger with his links, and the server brings him back.
    private func replaceLodger(_ container: PersistentContainer, _ lodge: LodgeSource) async throws {
        try await lodge.add(["a", "b"])
        try await lodge.edit(container) { context in
            let lodger = try context.lodger("a")
            lodger.note = "mine"
            lodger.room = try context.insert(LodgeRoom.self)
            let club = try context.insert(LodgeClub.self)
            club.name = "club"
            lodger.clubs.insert(club)
            club.lodgers.insert(try context.lodger("b"))
            let suitcase = try context.insert(Suitcase.self)
            (suitcase.color, suitcase.lodger) = ("red", lodger)
        }
        try await lodge.edit(container) { context in
            context.delete(try context.lodger("a"))
            try context.lodger("b").note = "edited"
        }
        try await lodge.add("a")
    }

    @Test(arguments: HistoryPlace.all)
    func theConflictNamesTheOtherObject(place: HistoryPlace) async throws {
        try await withLodge(place) { container, lodge in
            try await replaceLodger(container, lodge)
            let other = try container.main.lodger("a").objectID
            let error = try #require(await expectError(.draftConflict) { try await container.undo(author: "me") })
            #expect(error.entityName == "Lodger" && error.attributeName == "name")
            #expect(error.message.contains("but \(other) has the value now. Revert with resolving: .takeTheirs"))
            #expect(error.message.contains(".keepMine"))
            let record = try #require(try await container.nextUndo(author: "me"))
            await expectError(.draftConflict) { try await container.revert(record) }
            #expect(try container.main.lodger("b").note == "edited")
        }
    }

    @Test(arguments: HistoryPlace.all)
    func theOtherObjectStaysAndTheRestIsUndone(place: HistoryPlace) async throws {
        try await withLodge(place) { container, lodge in
            try await replaceLodger(container, lodge)
            let other = try container.main.lodger("a")
            let report = try #require(try await container.undo(author: "me", resolving: .takeTheirs))
            let conflict = try #require(report.conflicts.first { $0.kind == .takenByOthers })
            #expect(conflict.propertyName == "name" && conflict.mine as? String == "a" && conflict.choice == .theirs)
            #expect(conflict.theirs as? ManagedObjectID == other.objectID && conflict.objectID != other.objectID)
            // The case needs the lodger who is not inserted.
            #expect(report.save == SaveReport(updated: 1))
            #expect(try container.main.count(Suitcase.self) == 0)
            #expect(try container.main.lodger("b").note == "server")
            #expect(other.note == "server" && other.room == nil && other.clubs.isEmpty)
            // The redo takes back what was undone.
            try await container.redo(author: "me")
            #expect(try container.main.lodger("b").note == "edited" && other.note == "server")
        }
    }

    @Test(arguments: HistoryPlace.all)
    func theOtherObjectGetsTheValuesAndLinks(place: HistoryPlace) async throws {
        try await withLodge(place) { container, lodge in
            try await replaceLodger(container, lodge)
            let other = try container.main.lodger("a")
            let report = try await container.undo(author: "me", resolving: .keepMine)
            #expect(report?.save == SaveReport(inserted: 1, updated: 2))
            #expect(report?.conflicts.map(\.choice) == [.mine])
            #expect(try container.main.lodger("a") === other && container.main.count(Lodger.self) == 2)
            #expect(other.note == "mine" && other.room != nil && other.clubs.map(\.name) == ["club"])
            #expect(other.cases.map(\.color) == ["red"])
            try await container.redo(author: "me")
            #expect(other.note == "server" && other.room == nil && other.clubs.isEmpty && other.cases.isEmpty)
            #expect(try container.main.lodger("a") === other)
        }
    }

    /// Each step can be passed, so that the older steps are reached.
    @Test(arguments: HistoryPlace.all)
    func aStepOfWhichNothingIsLeftIsPassedAlone(place: HistoryPlace) async throws {
        try await withLodge(place) { container, lodge in
            try await lodge.add(["a", "b"])
            try await lodge.edit(container) { try $0.lodger("b").note = "old step" }
            try await lodge.edit(container) { $0.delete(try $0.lodger("a")) }
            try await lodge.add("a")
            let step = try #require(try await container.nextUndo(author: "me"))
            let report = try #require(try await container.undo(author: "me", resolving: .takeTheirs))
            #expect(report.save == SaveReport() && report.conflicts.map(\.choice) == [.theirs])
            #expect(report.revertedRecord?.number == step.number)
            #expect(try container.main.lodger("b").note == "old step")
            // The record of the step that was passed has no changes, and is not redone.
            let record = try #require(try await container.records().last)
            #expect(record.author == "me" && record.kind == .local && record.entityNames.isEmpty && record.note == nil)
            #expect(try record.changes(of: Lodger.self).isEmpty && record.linkChanges.isEmpty)
            #expect(try await container.nextRedo(author: "me") == nil)
            #expect(try await container.redo(author: "me") == nil)
            #expect(try await container.nextUndo(author: "me")?.number == step.number - 1)
            try await container.undo(author: "me")
            #expect(try container.main.lodger("b").note == "server")
            #expect(try await container.undo(author: "me") == nil)
            // The redo of the older step does not bring the passed step back.
            try await container.redo(author: "me")
            #expect(try container.main.lodger("b").note == "old step")
            #expect(try await container.nextUndo(author: "me")?.number ?? 0 > step.number)
            try await container.undo(author: "me")
            #expect(try await container.undo(author: "me") == nil)
        }
    }

    @Test(arguments: HistoryPlace.lasting)
    func aPassedStepStaysPassedWhenTheStoreIsOpenedAgain(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store, model: .lodge)
        let lodge = try first.dataSource(LodgeSource.self)
        try await lodge.add("a")
        try await lodge.edit(first) { $0.delete(try $0.lodger("a")) }
        try await lodge.add("a")
        #expect(try await first.undo(author: "me", resolving: .takeTheirs) != nil)
        try await first.close()
        let second = try await place.open(directory.store, model: .lodge)
        #expect(try await second.nextUndo(author: "me") == nil)
        #expect(try await second.nextRedo(author: "me") == nil)
        try await second.close()
    }

    @Test(arguments: SharedPlace.Kind.all)
    func aStepIsPassedForAllMembers(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo(configuration: .keeping()) { first, second in
            let contacts = try first.dataSource(ContactDataSource.self)
            _ = try second.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            try await first.withAuthor("me") {
                _ = try await contacts.delete(ContactEntity.self, where: \.uid == "uid-0")
            }
            try await contacts.add(contactList(0..<1))
            await expectError(.draftConflict) { try await second.undo(author: "me") }
            #expect(try await second.undo(author: "me", resolving: .takeTheirs)?.save == SaveReport())
            #expect(try await first.undo(author: "me") == nil)
            // The saves after the step are still exchanged.
            try await first.withAuthor("me") { _ = try await contacts.add(contactList(1..<2)) }
            try await second.undo(author: "me")
            #expect(try await first.read { try $0.count(ContactEntity.self) } == 1)
        }
    }

    @Test(arguments: HistoryPlace.all)
    func anEditThatTakesAValueBackIsAConflict(place: HistoryPlace) async throws {
        try await withLodge(place) { container, lodge in
            try await lodge.edit(container) { context in
                let room = try context.insert(LodgeRoom.self)
                (room.floor, room.number) = (1, 2)
            }
            try await lodge.edit(container) { context in
                let room = try context.room(1, 2)
                (room.number, room.note) = (3, "moved")
            }
            try await lodge.perform { context in
                let room = try context.insert(LodgeRoom.self)
                (room.floor, room.number) = (1, 2)
            }
            let other = try container.main.room(1, 2).objectID
            // The other room cannot have any other number, so there is nothing to keep.
            for resolution in [DraftResolution.fail, .keepMine] {
                let error = try #require(
                    await expectError(.draftConflict) { try await container.undo(author: "me", resolving: resolution) })
                #expect(error.attributeName == "number")
                #expect(error.message.contains("or first change or delete \(other)"))
            }
            let report = try await container.undo(author: "me", resolving: .takeTheirs)
            #expect(report?.conflicts.map(\.kind) == [.takenByOthers] && report?.save == SaveReport(updated: 1))
            let room = try container.main.room(1, 3)
            #expect(room.note == nil)
        }
    }

    /// The value belongs to the whole family of entities.
    @Test(arguments: HistoryPlace.all)
    func anObjectOfASubentityIsNotOverwritten(place: HistoryPlace) async throws {
        try await withLodge(place) { container, lodge in
            try await lodge.add("a")
            try await lodge.edit(container) { $0.delete(try $0.lodger("a")) }
            try await lodge.perform { try $0.insert(ChildLodger.self).name = "a" }
            for resolution in [DraftResolution.fail, .keepMine] {
                let error = try #require(
                    await expectError(.draftConflict) { try await container.undo(author: "me", resolving: resolution) })
                #expect(error.message.contains("ChildLodger"))
            }
            #expect(try await container.undo(author: "me", resolving: .takeTheirs)?.save == SaveReport())
            #expect(try container.main.lodger("a") is ChildLodger)
        }
    }

    /// Values that move within the record are not in conflict.
    @Test(arguments: HistoryPlace.all)
    func valuesThatTheRecordHasMovedComeBack(place: HistoryPlace) async throws {
        try await withLodge(place) { container, lodge in
            try await lodge.add(["a", "b"])
            let ids = try ["a", "b"].map { try container.main.lodger($0).objectID }
            try await lodge.edit(container) { context in
                let (first, second) = (try context.lodger("a"), try context.lodger("b"))
                (first.name, second.name) = ("b", "a")
            }
            try await lodge.edit(container) { context in
                context.delete(try context.lodger("a"))
                try context.insert(ChildLodger.self).name = "a"
            }
            #expect(try await container.undo(author: "me")?.conflicts.isEmpty == true)
            #expect(try ["b", "a"].map { try container.main.lodger($0).objectID } == ids)
            #expect(try await container.undo(author: "me")?.conflicts.isEmpty == true)
            #expect(try ["a", "b"].map { try container.main.lodger($0).objectID } == ids)
        }
    }

    /// The object that has replaced the deleted one was edited since, and stays.
    @Test(arguments: HistoryPlace.all)
    func aValueThatAKeptObjectKeepsIsLeftOut(place: HistoryPlace) async throws {
        try await withLodge(place) { container, lodge in
            try await lodge.add("a")
            try await lodge.edit(container) { context in
                context.delete(try context.lodger("a"))
                try context.insert(ChildLodger.self).name = "a"
            }
            try await lodge.perform { try $0.lodger("a").note = "theirs" }
            let report = try #require(try await container.undo(author: "me", resolving: .takeTheirs))
            #expect(Set(report.conflicts.map(\.kind)) == [.deletedHere, .takenByOthers])
            #expect(report.conflicts.allSatisfy { $0.choice == .theirs } && report.save == SaveReport())
            #expect(try container.main.lodger("a").note == "theirs")
            #expect(try container.main.count(Lodger.self) == 1)
        }
    }

    /// Each lodger keeps the name that the next one would get back.
    @Test(arguments: HistoryPlace.all)
    func aChainOfValuesThatOneObjectBlocksIsLeftOut(place: HistoryPlace) async throws {
        try await withLodge(place) { container, lodge in
            try await lodge.add((0..<20).map { "\($0)" })
            try await lodge.edit(container) { context in
                let lodgers = try (0..<20).map { try context.lodger("\($0)") }
                for (number, lodger) in lodgers.enumerated() { (lodger.name, lodger.note) = ("\(number + 1)", "mine") }
            }
            // The last one has the first name now, so it keeps the name that the first one had.
            try await lodge.perform { try $0.lodger("20").name = "0" }
            let report = try #require(try await container.undo(author: "me", resolving: .takeTheirs))
            #expect(report.conflicts.map(\.kind).count { $0 == .takenByOthers } == 19)
            #expect(report.conflicts.allSatisfy { $0.propertyName == "name" && $0.choice == .theirs })
            #expect(report.conflicts.count == 20 && report.save == SaveReport(updated: 20))
            let lodgers = try container.main.fetch(Lodger.self)
            #expect(Set(lodgers.map(\.name)) == Set((0..<20).map { "\($0)" }))
            #expect(lodgers.allSatisfy { $0.note == "server" })
        }
    }

    /// A club must have members.
    @Test(arguments: HistoryPlace.all)
    func anObjectThatLacksRequiredLinksIsLeftOut(place: HistoryPlace) async throws {
        try await withLodge(place) { container, lodge in
            try await lodge.add("a")
            try await lodge.perform { context in
                let club = try context.insert(LodgeClub.self)
                club.name = "club"
                club.lodgers.insert(try context.lodger("a"))
            }
            try await lodge.edit(container) { context in
                try context.delete(LodgeClub.self, where: nil)
                context.delete(try context.lodger("a"))
            }
            try await lodge.add("a")
            #expect(try await container.undo(author: "me", resolving: .takeTheirs)?.save == SaveReport())
            #expect(try container.main.count(LodgeClub.self) == 0)
        }
    }

    @Test(arguments: HistoryPlace.all)
    func aRedoHasTheSameConflict(place: HistoryPlace) async throws {
        try await withLodge(place) { container, lodge in
            for resolution in [DraftResolution.takeTheirs, .keepMine] {
                try await lodge.edit(container) { context in
                    let lodger = try context.insert(Lodger.self)
                    (lodger.name, lodger.note) = ("new", "mine")
                }
                try await container.undo(author: "me")
                try await lodge.add("new")
                await expectError(.draftConflict) { try await container.redo(author: "me") }
                let report = try await container.redo(author: "me", resolving: resolution)
                #expect(report?.conflicts.map(\.kind) == [.takenByOthers])
                #expect(try await container.nextRedo(author: "me") == nil)
                let isMine = report?.conflicts.first?.choice == .mine
                #expect(try container.main.lodger("new").note == (isMine ? "mine" : "server"))
                try await lodge.perform { $0.delete(try $0.lodger("new")) }
            }
        }
    }

    @Test(arguments: HistoryPlace.all)
    func aDraftPassesASaveOfWhichNothingIsLeft(place: HistoryPlace) async throws {
        try await withLodge(place) { container, lodge in
            try await lodge.add(["a", "b"])
            let draft = try lodge.draft(of: try container.main.lodger("b"))
            draft.object.note = "first"
            try await draft.save()
            let context = try draft.context
            context.delete(try context.lodger("a"))
            try await draft.save()
            try await lodge.add("a")
            await expectError(.draftConflict) { try await draft.undoSave() }
            let report = try #require(try await draft.undoSave(resolving: .takeTheirs))
            #expect(report.save == SaveReport() && report.conflicts.map(\.kind) == [.takenByOthers])
            #expect(try container.main.lodger("b").note == "first")
            #expect(try await draft.redoSave() == nil)
            try await draft.undoSave()
            #expect(try container.main.lodger("b").note == "server")
            #expect(try await draft.undoSave() == nil)
            try await draft.redoSave()
            #expect(try container.main.lodger("b").note == "first")
        }
    }

    /// On a server, one query looks up many values.
    @Test(arguments: HistoryPlace.all)
    func manyValuesAreLookedUp(place: HistoryPlace) async throws {
        try await withLodge(place) { container, lodge in
            let names = (0..<600).map { "\($0)" }
            try await lodge.add(names)
            try await lodge.edit(container) { try $0.delete(Lodger.self, where: nil) }
            try await lodge.add(Array(names[..<500]))
            let report = try #require(try await container.undo(author: "me", resolving: .takeTheirs))
            #expect(report.conflicts.count == 500 && report.save == SaveReport(inserted: 100))
            #expect(try container.main.count(Lodger.self) == 600)
        }
    }

    /// A new object of a draft is no conflict, because the user can change its value.
    @Test func aDraftNamesAValueThatWasTakenMeanwhile() async throws {
        try await withLodge(.sqlite) { _, lodge in
            let draft = try lodge.draft(inserting: Lodger.self)
            draft.object.name = "a"
            #expect(draft.errors(of: draft.object).isEmpty)
            try await lodge.add("a")
            #expect(draft.errors(of: draft.object, \.name).map(\.code) == [.uniquenessViolated])
            for resolution in [DraftResolution.fail, .keepMine, .takeTheirs] {
                let error = try #require(
                    await expectError(.uniquenessViolated) { try await draft.save(resolving: resolution) })
                #expect(error.attributeName == "name")
            }
            draft.object.name = "b"
            try await draft.save()
        }
    }
}
