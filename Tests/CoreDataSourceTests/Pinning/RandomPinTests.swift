import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Random saves, pins and their ends, against what the main context has to show.
@MainActor
struct RandomPinTests {
    private nonisolated static let seed = testSeed()

    /// What was saved, and what the main context shows.
    private struct Model {
        var saved: [String: String] = [:]
        var pinned: [String: String]?

        var shown: [String: String] { pinned ?? saved }
    }

    @Test(arguments: PinPlace.all, 0..<3)
    func theMainContextShowsTheStateOfItsPin(place: PinPlace, round: Int) async throws {
        let directory = try TemporaryDirectory()
        // In some rounds, few saves may wait, so that the context reloads.
        var configuration = PersistentContainer.Configuration(
            synchronous: .normal, mainBacklogByteLimit: round == 1 ? 3000 : 32 << 20)
        configuration.changedRowLimit = round == 2 ? 10 : 1 << 14
        let shared = try place.sharedKind.map { try SharedPlace($0) }
        let container =
            if let shared { try shared.open(configuration: configuration) } else {
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
        for step in 0..<200 {
            let comment: Comment = "seed \(Self.seed), step \(step)"
            switch random.next(below: 10) {
            case 0:
                try container.main.pin(for: .ample)
                if model.pinned == nil { model.pinned = model.saved }
            case 1:
                try container.main.advance()
                if model.pinned != nil { model.pinned = model.saved }
            case 2:
                container.main.unpin()
                model.pinned = nil
            default:
                let source = random.next(below: 3) == 0 ? others ?? contacts : contacts
                try await save(source, isOwn: source === contacts, &model, &random)
            }
            try check(container, model, held, comment)
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
