import CoreDataSource
import Foundation
import ManagedModel
import RowStore
import SQLiteStore

/// Objects with large values, of classes that are written by hand.
final class Recording: ManagedObject {
    override class var entityName: String { "Recording" }

    override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \Recording.cover: "cover", \Recording.notes: "notes", \Recording.sound: "sound",
            \Recording.title: "title",
        ]
    }

    override class var relationshipKeyPaths: [AnyKeyPath: String] { [\Recording.album: "album"] }

    var cover: Data {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }

    var notes: [String]? {
        get { transformable(at: 1) }
        set { setTransformable(newValue, at: 1) }
    }

    var sound: Data? {
        get { attribute(at: 2) }
        set { setAttribute(newValue, at: 2) }
    }

    var title: String {
        get { attribute(at: 3) }
        set { setAttribute(newValue, at: 3) }
    }

    var album: Album? {
        get { relatedObject(at: 0) }
        set { setRelatedObject(newValue, at: 0) }
    }

    /// A property that is computed from a large value.
    var soundLength: Int { sound?.count ?? -1 }
}

final class Album: ManagedObject {
    override class var entityName: String { "Album" }
    override class var attributeKeyPaths: [AnyKeyPath: String] { [\Album.name: "name"] }
    override class var relationshipKeyPaths: [AnyKeyPath: String] { [\Album.recordings: "recordings"] }

    var name: String {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }

    var recordings: RelatedObjects<Recording> { relatedObjects(at: 0) }
}

final class RecordingDataSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Recording.self, Album.self] }

    override func onAdd(_ title: String, in context: PrivateContext) throws -> ManagedObject? {
        let recording = try context.findOrInsert(Recording.self, where: \.title, equals: title)
        recording.cover = Data([1])
        return recording
    }
}

extension ManagedObjectModel {
    /// - Parameter isExternal: Whether large values may lie apart.
    static func recordings(isExternal: Bool = true) -> ManagedObjectModel {
        func large(_ name: String, _ type: AttributeType, isOptional: Bool = true) -> AttributeDescription {
            AttributeDescription(
                name: name, type: type, isOptional: isOptional, allowsExternalBinaryDataStorage: isExternal)
        }
        return ManagedObjectModel(
            name: "Recordings",
            entities: [
                EntityDescription(
                    name: "Album", attributes: [AttributeDescription(name: "name", type: .string)],
                    relationships: [
                        RelationshipDescription(
                            name: "recordings", destinationName: "Recording", inverseName: "album", isToMany: true,
                            isOptional: true)
                    ], uniquenessConstraints: [["name"]]),
                EntityDescription(
                    name: "Recording",
                    attributes: [
                        large("cover", .binary, isOptional: false), large("notes", .transformable),
                        large("sound", .binary), AttributeDescription(name: "title", type: .string),
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: "album", destinationName: "Album", inverseName: "recordings", isOptional: true)
                    ], uniquenessConstraints: [["title"]]),
            ], classes: ["Recording": Recording.self, "Album": Album.self])
    }
}

extension Data {
    /// Bytes that differ by their seed.
    static func large(_ count: Int, seed: UInt8 = 0) -> Data {
        let pattern = Data((0..<256).map { UInt8($0) &+ seed })
        var data = Data(capacity: count + pattern.count)
        while data.count < count { data.append(pattern) }
        return data.prefix(count)
    }
}

/// A container with recordings whose sounds have those sizes. A file was closed since, so that nothing waits for it any more.
@MainActor
func withRecordings(
    _ sounds: [Int?], _ kind: StoreKind = .sqlite,
    _ body: @MainActor (PersistentContainer, RecordingDataSource) async throws -> Void
) async throws {
    let directory = try TemporaryDirectory()
    let location: StoreLocation = kind == .sqlite ? .sqlite(directory.store) : .inMemory
    var container = try await PersistentContainer(model: .recordings(), store: location, configuration: .uncached)
    try await container.dataSource(RecordingDataSource.self).insert(sounds)
    if kind == .sqlite {
        try await container.close()
        container = try await PersistentContainer(model: .recordings(), store: location, configuration: .uncached)
    }
    try await body(container, try container.dataSource(RecordingDataSource.self))
    try await container.close()
    if kind == .sqlite { try expectIntact(directory.store) }
}

extension RecordingDataSource {
    func insert(_ sounds: [Int?]) async throws {
        try await perform { context in
            for (number, size) in sounds.enumerated() {
                let recording = try context.insert(Recording.self)
                recording.title = "\(number)"
                recording.album = try context.findOrInsert(Album.self, where: \.name, equals: "album")
                recording.cover = Data([UInt8(number)])
                recording.sound = size.map { .large($0, seed: UInt8(number)) }
            }
        }
    }
}

/// A container over a file of recordings whose reads can be made to fail.
func faultyRecordings(
    _ directory: borrowing TemporaryDirectory
) throws -> (container: PersistentContainer, store: FaultyStore) {
    let layout = ModelLayout(.recordings())
    let identity = StoreIdentity(modelHash: "hash", entityHashes: [:], databaseKey: "1")
    let base = try SQLiteStore.open(
        SQLiteStore.Options(
            url: directory.store, layout: layout, identity: identity, synchronous: .normal, resetPolicy: .fail))
    let store = FaultyStore(over: base)
    return (PersistentContainer(layout, store, startup: base.startup, configuration: .uncached), store)
}
