import CoreDataSource
import Foundation
import StoreFaults
import TestSupport
import Testing

/// Random saves, drafts, pins, their ends and failed reads, against what the main context has to show.
@MainActor
struct RandomPinTests {
    private nonisolated static let seed = testSeed()

    /// What was saved, and what the main context shows.
    private struct Model {
        var saved: [String: String] = [:]
        var pinned: [String: String]?
        /// Whether the draft has saved since the context was pinned or moved.
        var draftHasLeft = false

        var shown: [String: String] { pinned ?? saved }
        var shownByDraft: [String: String] { draftHasLeft ? saved : shown }

        mutating func move(to state: [String: String]?) { (pinned, draftHasLeft) = (state, false) }
    }

    @Test(arguments: PinPlace.all, 0..<3)
    func theMainContextShowsTheStateOfItsPin(place: PinPlace, round: Int) async throws {
        let directory = try TemporaryDirectory()
        // In some rounds, few saves may wait, so that the context reloads.
        var configuration = PersistentContainer.Configuration(
            synchronous: .normal, mainBacklogByteLimit: round == 1 ? 3000 : 32 << 20)
        configuration.changedRowLimit = round == 2 ? 10 : 1 << 14
        let shared = try place.sharedKind.map { try SharedPlace($0) }
        let isFailing = Shared(false)
        let files = try FaultyCalls(failsCallNamed: { $0 == "read" && isFailing.value })
        let container =
            if place.isFile {
                try place.open(shared?.url ?? directory.store, files.calls, configuration)
            } else if let shared {
                try shared.open(configuration: configuration)
            } else {
                try await place.open(directory.store, configuration)
            }
        let contacts = try container.dataSource(ContactDataSource.self)
        // Another container stands for another process.
        let other = try shared?.open(configuration: configuration)
        let others = try other?.dataSource(ContactDataSource.self)
        let list = try contacts.list(
            ObjectRequest(ContactEntity.self, order: [.ascending(\.name), .ascending(\.uid)]), sectionBy: \.name)
        let count = try contacts.liveAggregate(ObjectRequest(ContactEntity.self), .count())
        var random = SeededRandom(seed: Self.seed &+ UInt64(round))
        var model = Model()
        var held: [ContactEntity] = []
        var draft: Draft<ContactEntity>?
        for step in 0..<200 {
            let comment: Comment = "seed \(Self.seed), step \(step)"
            switch random.next(below: 12) {
            case 0:
                try container.main.pin(for: .ample)
                if model.pinned == nil { model.move(to: model.saved) }
            case 1:
                try container.main.advance()
                if model.pinned != nil { model.move(to: model.saved) }
            case 2:
                container.main.unpin()
                model.move(to: nil)
            case 3 where place.isFile:
                try await readWithFaults(container, isFailing, &model, &random)
                // A list may have read meanwhile, too.
                container.mainTier.reloadLists()
            case 4: draft = try await saveDraft(draft, contacts, &model, &random)
            default:
                let source = random.next(below: 3) == 0 ? others ?? contacts : contacts
                try await save(source, isOwn: source === contacts, &model, &random)
            }
            try check(container, model, held, comment)
            if let draft { #expect(try names(draft.context) == model.shownByDraft, comment) }
            await container.mainTier.waitForLists()
            container.mainTier.merge()
            await container.mainTier.waitForLists()
            let expected = model.shown.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
            #expect(list.snapshot.map(\.uid) == expected, comment)
            #expect(count.value == model.shown.count, comment)
            if step % 20 == 0 { held = try container.main.fetch(ContactEntity.self) }
        }
        try await other?.close()
        try await container.close()
        if let url = shared?.url ?? (place == .sqlite ? directory.store : nil) { try expectIntact(url) }
    }

    private func check(
        _ container: PersistentContainer, _ model: Model, _ held: [ContactEntity], _ comment: Comment
    ) throws {
        let main = container.main
        #expect((main.pinned != nil) == (model.pinned != nil), comment)
        #expect(try main.names == model.shown, comment)
        // The fetch has found saves of the other container.
        container.mainTier.merge()
        #expect(try main.count(ContactEntity.self) == model.shown.count, comment)
        for contact in held where !contact.isDeleted {
            #expect(contact.name == model.shown[contact.uid], comment)
        }
        for uid in ["uid-3", "uid-30"] {
            #expect(try main.first(ContactEntity.self, where: \.uid, equals: uid)?.name == model.shown[uid], comment)
        }
    }

    private func names(_ context: DraftContext) throws -> [String: String] {
        Dictionary(uniqueKeysWithValues: try context.fetch(ContactEntity.self).map { ($0.uid, $0.name) })
    }

    /// Reads while the file cannot be read. The pin may end, and then the context follows saves again.
    private func readWithFaults(
        _ container: PersistentContainer, _ isFailing: Shared<Bool>, _ model: inout Model, _ random: inout SeededRandom
    ) async throws {
        if random.next(below: 2) == 0, (try? container.main.advance()) != nil, model.pinned != nil {
            model.move(to: model.saved)
        }
        isFailing.value = true
        for _ in 0..<1 + random.next(below: 3) {
            if random.next(below: 3) == 0 {
                if (try? container.main.advance()) != nil, model.pinned != nil { model.move(to: model.saved) }
            } else {
                _ = try? container.main.count(ContactEntity.self, where: \.name > "name 1")
            }
        }
        isFailing.value = false
        // The lists may still lose the pin.
        await container.mainTier.waitForLists()
        if container.main.pinned == nil { model.move(to: nil) }
    }

    /// Saves an edit of a contact that the context shows.
    ///
    /// - Returns: The draft, which goes on; nil if it was discarded.
    private func saveDraft(
        _ last: Draft<ContactEntity>?, _ contacts: ContactDataSource, _ model: inout Model,
        _ random: inout SeededRandom
    ) async throws -> Draft<ContactEntity>? {
        last?.discard()
        let uid = "uid-\(random.next(below: 40))"
        guard model.saved[uid] != nil, model.shown[uid] != nil,
            let contact = try contacts.main.first(ContactEntity.self, where: \.uid, equals: uid)
        else { return nil }
        let draft = try contacts.draft(of: contact)
        // The draft discarded last does not count any more.
        model.draftHasLeft = false
        draft.object.name = "name \(random.next(below: 4))"
        guard draft.hasChanges else { return draft }
        // Nothing is saved if another object has taken the place of this one.
        guard (try? await draft.save(resolving: .keepMine)) != nil else {
            draft.discard()
            return nil
        }
        model.saved[uid] = draft.object.name
        model.draftHasLeft = model.pinned != nil
        return draft
    }

    /// One to three names, so that sections come and go.
    private func save(
        _ contacts: ContactDataSource, isOwn: Bool, _ model: inout Model, _ random: inout SeededRandom
    ) async throws {
        let level: SaveLevel = isOwn && random.next(below: 2) == 0 ? .main : .store
        let first = random.next(below: 40)
        let range = first..<first + 1 + random.next(below: random.next(below: 10) == 0 ? 400 : 4)
        let name = "name \(random.next(below: 4))"
        switch random.next(below: 8) {
        case 0:
            try await contacts.delete(contactList(range), waitFor: level)
            for number in range { model.saved["uid-\(number)"] = nil }
        case 1:
            try await contacts.update(ContactEntity.self, where: \.name == "name 1", set: [.set(\.name, name)])
            model.saved = model.saved.mapValues { $0 == "name 1" ? name : $0 }
        default:
            try await contacts.add(contactList(range) { _ in name }, waitFor: level)
            for number in range { model.saved["uid-\(number)"] = name }
        }
    }
}
