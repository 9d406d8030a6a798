import CoreDataSource
import TestSupport
import Testing

/// Random saves of an author and of others, who take each other's unique values.
@MainActor
struct RandomUniqueConflictTests {
    private nonisolated static let seed = testSeed()

    /// Whatever others have done, each undo settles a step.
    @Test(arguments: HistoryPlace.all)
    func everyStepCanBeUndoneOrPassed(place: HistoryPlace) async throws {
        try await place.withContainer(model: .lodge) { container, _ in
            let lodge = try container.dataSource(LodgeSource.self)
            var random = SeededRandom(seed: Self.seed)
            for _ in 0..<5 {
                for _ in 0..<12 {
                    let seed = UInt64.random(in: 0 ... .max, using: &random)
                    try await container.withAuthor(Bool.random(using: &random) ? "me" : "other") {
                        try await lodge.perform { context in
                            var random = SeededRandom(seed: seed)
                            for _ in 0..<3 { try Self.edit(context, &random) }
                        }
                    }
                }
                for _ in 0..<6 {
                    let step = try await container.nextUndo(author: "me")?.number
                    let report = try await Self.undo(container, &random)
                    if report == nil { break }
                    #expect(try await container.nextUndo(author: "me")?.number != step, "seed \(Self.seed)")
                    try await Self.check(container)
                }
                for _ in 0..<3 {
                    _ = try await container.redo(author: "me", resolving: .takeTheirs)
                    try await Self.check(container)
                }
            }
            var count = 0
            while try await Self.undo(container, &random) != nil { count += 1 }
            #expect(count <= 60, "seed \(Self.seed)")
            try await Self.check(container)
        }
    }

    /// Undoes a step. If the old values cannot be kept, keeps the newest ones.
    private static func undo(
        _ container: PersistentContainer, _ random: inout SeededRandom
    ) async throws -> DraftReport? {
        if Bool.random(using: &random) {
            do {
                return try await container.undo(author: "me", resolving: .keepMine)
            } catch let error as DataSourceError where error.code == .draftConflict {}
        }
        return try await container.undo(author: "me", resolving: .takeTheirs)
    }

    private static func check(_ container: PersistentContainer) async throws {
        try await container.read { context in
            let names = try context.fetch(Lodger.self).map(\.name)
            let rooms = try context.fetch(LodgeRoom.self).map { [$0.floor, $0.number] }
            #expect(Set(names).count == names.count && Set(rooms).count == rooms.count, "seed \(seed)")
            #expect(try context.fetch(Suitcase.self).allSatisfy { $0.lodger != nil }, "seed \(seed)")
        }
    }

    private nonisolated static func edit(_ context: PrivateContext, _ random: inout SeededRandom) throws {
        let name = "\(Int.random(in: 0..<6, using: &random))"
        let (floor, number) = (Int64.random(in: 0..<2, using: &random), Int64.random(in: 0..<3, using: &random))
        let isNameFree = try context.first(Lodger.self, where: \.name, equals: name) == nil
        let isRoomFree =
            try context.first(LodgeRoom.self, where: \.floor == floor && \.number == number) == nil
        let lodger = try context.fetch(Lodger.self, order: [.ascending(\.name)]).randomElement(using: &random)
        let room = try context.fetch(LodgeRoom.self, order: [.ascending(\.floor), .ascending(\.number)])
            .randomElement(using: &random)
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1:
            guard isNameFree else { return }
            let isChild = Bool.random(using: &random)
            let new = isChild ? try context.insert(ChildLodger.self) : try context.insert(Lodger.self)
            (new.name, new.room) = (name, room)
        case 2: if isNameFree { lodger?.name = name }
        case 3: if let lodger { context.delete(lodger) }
        case 4:
            guard isRoomFree else { return }
            let new = try context.insert(LodgeRoom.self)
            (new.floor, new.number) = (floor, number)
        case 5: if isRoomFree, let room { (room.floor, room.number) = (floor, number) }
        case 6: if let room { context.delete(room) }
        case 7: if let lodger { try context.insert(Suitcase.self).lodger = lodger }
        default: lodger?.room = room
        }
    }
}
