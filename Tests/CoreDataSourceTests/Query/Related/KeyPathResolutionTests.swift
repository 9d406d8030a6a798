import CoreDataSource
import ErrorExpectations
import Foundation
import QueryLanguage
import RowStore
import TestSupport
import Testing

/// Everything of the model Maze.
final class MazeDataSource: DataSource<String> {
    nonisolated override class var entities: [ManagedObject.Type] { Maze.rooms.map { $0 } }
}

/// Ten entities with 20 attributes and five to-one relationships each. Several relationships lead from one entity to the same other
/// one, or to itself.
enum Maze {
    static let rooms: [any MazeRoom.Type] = [
        Room0.self, Room1.self, Room2.self, Room3.self, Room4.self, Room5.self, Room6.self, Room7.self, Room8.self,
        Room9.self,
    ]
    /// The values of all string attributes.
    static let words = ["x", "y", "z"]

    /// A few rooms of each entity, linked at random.
    static func build(_ context: EditingContext, _ random: inout SeededRandom) throws {
        let all = try rooms.map { type in try (0..<3).map { _ in try context.insert(type) } }
        for object in all.joined() {
            for column in 0..<10 where random.next() % 4 != 0 {
                object.setAttribute(words[Int(random.next() % 3)], at: column)
            }
            for (index, relationship) in object.entityRelationships.enumerated() where !relationship.isToMany {
                guard random.next() % 8 != 0 else { continue }
                let ends = all[relationship.destination]
                object.setRelatedObject(ends[Int(random.next() % UInt64(ends.count))], at: index)
            }
        }
    }
}

/// A class whose type is known only when a test runs.
protocol MazeRoom: ManagedObject {}

extension Room0: MazeRoom {}
extension Room1: MazeRoom {}
extension Room2: MazeRoom {}
extension Room3: MazeRoom {}
extension Room4: MazeRoom {}
extension Room5: MazeRoom {}
extension Room6: MazeRoom {}
extension Room7: MazeRoom {}
extension Room8: MazeRoom {}
extension Room9: MazeRoom {}

extension MazeRoom {
    fileprivate var entityRelationships: [RelationshipLayout] { layout.relationships }
    fileprivate static var unwrapping: AnyKeyPath { \Self?.! }
}

private protocol OptionalRoom {
    static var room: any MazeRoom.Type { get }
}

extension Optional: OptionalRoom where Wrapped: MazeRoom {
    static var room: any MazeRoom.Type { Wrapped.self }
}

/// Key paths are found by what they lead along, however and wherever they are written.
///
/// `COREDATASOURCE_KEY_PATHS` says how many random key paths are resolved, and `COREDATASOURCE_SEED` repeats a run.
@MainActor
struct KeyPathResolutionTests {
    private nonisolated static let environment = ProcessInfo.processInfo.environment
    private nonisolated static let count = environment["COREDATASOURCE_KEY_PATHS"].flatMap { Int($0) } ?? 200
    private nonisolated static let seed = testSeed()

    private func withMaze(_ body: @MainActor (MazeDataSource) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .maze, store: .sqlite(directory.store))
        let maze = try container.dataSource(MazeDataSource.self)
        let seed = Self.seed
        try await maze.perform { context in
            var random = SeededRandom(seed: seed)
            try Maze.build(context, &random)
        }
        try await body(maze)
        try await container.close()
    }

    private func expectSame<Object: ManagedObject>(
        _ typed: KeyPath<Object, String?>, _ format: String, _ maze: MazeDataSource
    ) throws {
        for word in Maze.words {
            let found = try maze.main.ids(ObjectRequest(Object.self, where: typed == word))
            let wanted = try maze.main.ids(
                ObjectRequest(where: FetchPredicate<Object>(format: "\(format) == %@", word)))
            #expect(found == wanted, "\(format) == \(word), seed \(Self.seed)")
        }
    }

    @Test func aKeyPathAlongUpToEightRelationshipsFindsWhatItsFormatFinds() async throws {
        try await withMaze { maze in
            for (format, typed) in MazePaths.literals { try expectSame(typed, format, maze) }
        }
    }

    @Test func randomKeyPathsThatAreAppendedFindWhatTheirFormatsFind() async throws {
        try await withMaze { maze in
            var random = SeededRandom(seed: Self.seed)
            for _ in 0..<Self.count {
                let walk = RandomWalk(from: Maze.rooms[Int(random.next() % 10)], &random)
                try expectSame(walk, maze)
            }
        }
    }

    private func expectSame(_ walk: RandomWalk, _ maze: MazeDataSource) throws {
        func open<Object: MazeRoom>(_ type: Object.Type) throws {
            let typed = try #require(walk.keyPath as? KeyPath<Object, String?>)
            try expectSame(typed, walk.names.joined(separator: "."), maze)
        }
        try open(walk.start)
    }

    @Test func aKeyPathAlongNineRelationshipsIsRefusedByName() async throws {
        try await withMaze { maze in
            for (format, typed) in MazePaths.tooLong {
                expectError(.unsupportedQuery) {
                    try maze.main.ids(ObjectRequest(where: FetchPredicate<Room0>(format: "\(format) == 'x'")))
                }
                expectError(.unsupportedQuery) {
                    try maze.main.ids(ObjectRequest(Room0.self, where: typed == "x"))
                }
            }
        }
    }

    /// Where the part of a path that can be set ends is part of its identity, so paths that mean the same need not be equal.
    @Test func pathsThatMeanTheSameResolveAlikeThoughTheyAreNotEqual() throws {
        let written: KeyPath<Room0, String?> = \.one0?.one1?.a00
        let appended = (\Room0.one0).appending(path: \Room8?.?.one1).appending(path: \Room4?.?.a00)
        #expect(written != appended)
        let unwrapped: KeyPath<Room0, String?> = \.one0!.one1!.a00
        for keyPath in [written, appended, unwrapped] {
            #expect(try RelatedKeyPaths.names(keyPath, of: Room0.self) == ["one0", "one1", "a00"])
        }
        #expect(try RelatedKeyPaths.names(\Room0.one0!, of: Room0.self) == ["one0"])
    }

    /// A section by a key path that cannot be resolved was computed from objects that have no relationships.
    @Test(arguments: [1, 8]) func aSectionAlongRelationshipsIsOneOfTheStore(depth: Int) async throws {
        try await withMaze { maze in
            let (format, typed) = try #require(
                MazePaths.literals.last { $0.format.split(separator: ".").count == depth + 1 })
            let delegate = RecordingDelegate()
            try maze.register(delegate, dataKey: "list", ObjectRequest(Room0.self), sectionBy: typed)
            let sorted = ObjectRequest<Room0>(order: [FetchOrder(format)])
            #expect(maze.allObjects(dataKey: "list").map(\.objectID) == (try maze.main.ids(sorted)))
            let values = try maze.main.values(sorted, typed)
            #expect(maze.numberOfSections(dataKey: "list") == Set(values).count)
        }
    }

    @Test func aSectionByAComputedPropertyBeyondARelationshipIsRefused() async throws {
        try await withMaze { maze in
            let error = expectError(.unsupportedQuery) {
                try maze.list(ObjectRequest(Room0.self), sectionBy: \.one0?.shout)
            }
            #expect(error?.message.contains("Room0") == true)
        }
    }

    @Test func aPropertyThatIsNotInTheModelIsRefusedWithoutBeingRead() async throws {
        try await withMaze { maze in
            expectError(.unknownAttribute) {
                try maze.main.fetch(Room0.self, where: \.one0?.shout == "X")
            }
            #expect(Room0.readCount.value == 0)
        }
    }

    /// Eight relationships lead to millions of paths; it is enough to build a few.
    @Test func aKeyPathIsResolvedWithFewOtherPaths() throws {
        for (format, typed) in MazePaths.literals {
            let built = RelatedKeyPaths.pathsBuilt(for: typed, of: Room0.self)
            #expect(built <= 2 * format.split(separator: ".").count, "\(format)")
        }
        #expect(RelatedKeyPaths.pathsBuilt(for: \Room0.one0?.shout, of: Room0.self) <= 10)
        #expect(RelatedKeyPaths.pathsBuilt(for: \Room0.shout, of: Room0.self) == 0)
    }
}

extension ManagedObject {
    fileprivate static let readCount = Shared(0)

    /// A property of the app's own.
    fileprivate var shout: String? {
        Self.readCount.update { $0 += 1 }
        return "X"
    }
}

/// A path of up to eight relationships and an attribute, appended step by step from the tables of the classes.
private struct RandomWalk {
    let start: any MazeRoom.Type
    private(set) var names: [String] = []
    private(set) var keyPath: AnyKeyPath

    init(from start: any MazeRoom.Type, _ random: inout SeededRandom) {
        self.start = start
        var type = start
        let depth = 1 + Int(random.next() % 8)
        var path: AnyKeyPath?
        for step in 0...depth {
            let isLast = step == depth
            let name = isLast ? "a0\(random.next() % 10)" : "one\(random.next() % 5)"
            let isUnwrapped = path == nil || random.next() % 3 == 0
            let table =
                isUnwrapped
                ? type.attributeKeyPaths.merging(type.relationshipKeyPaths) { $1 } : type.optionalKeyPaths
            if isUnwrapped { path = path?.appending(path: type.unwrapping) }
            guard let next = table.first(where: { $0.value == name })?.key else { preconditionFailure(name) }
            path = path == nil ? next : path?.appending(path: next)
            names.append(name)
            if !isLast, let destination = Swift.type(of: next).valueType as? any OptionalRoom.Type {
                type = destination.room
            }
        }
        keyPath = path ?? \ManagedObject.self
    }
}
