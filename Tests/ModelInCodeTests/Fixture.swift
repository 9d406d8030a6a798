import CoreDataSource
import Foundation

enum Kind: Int16, AttributeStorable {
    case person = 1
    case company = 7
}

enum Mood: String, AttributeStorable {
    case glad, sad
}

@StoredComposite struct Position {
    var latitude: Double = 0
    var longitude: Double = 0
}

@StoredComposite struct Address {
    var street: String = ""
    @StoredPart(renamedFrom: "town") var city: String?
    @StoredPart(.composite) var position: Position?
    @StoredPart(raw: String.self) var mood: Mood = .sad
}

@StoredEntity(isAbstract: true) class RecordEntity: ManagedObject {
    var createdAt: Date = Date(timeIntervalSinceReferenceDate: 10)
    @Stored(.composite) var origin: Address?
    var uid: UUID = UUID()
    @Related var owner: RecordEntity?
}

@StoredEntity(
    unique: [["name", "number"]],
    indexes: [
        FetchIndexDescription(
            name: "byName", elements: [.init(property: "name"), .init(property: "number", isAscending: false)])
    ])
class ContactEntity: RecordEntity {
    var name: String = ""
    @Stored(raw: Int16.self) var kind: Kind = .company
    @Stored(.composite) var address: Address = Address(street: "none")
    @Stored(in: 0...9_000) var number: Int32 = 1
    @Stored(.codable) var tags: [String] = ["new"]
    @Stored(derived: "notes.@count") var noteCount: Int64
    var `class`: Int?
    @Related(inverse: "contact", onDelete: .cascade) var notes: RelatedObjects<NoteEntity>
    @Related(inverse: "members") var groups: [GroupEntity]
    @Unstored var isSelected = false
    var isCompany: Bool { kind == .company }
    func rename() { name += "!" }
}

@StoredEntity final class PersonEntity: ContactEntity {
    var age: Int16?
    @Related(inverse: "friend") var friend: PersonEntity?
}

@StoredEntity("Note") final class NoteEntity: ManagedObject {
    var text: String = "a \"quoted\" {text}"  // not: var a: Int
    var amount: Decimal = 12345678901234567890.123
    @Related(isOptional: false) var contact: ContactEntity?
}

@StoredEntity final class GroupEntity: ManagedObject {
    @Stored(unique: true) var title: String
    @Related(count: 0...50) var members: RelatedObjects<ContactEntity>
}

extension ManagedObjectModel {
    static let inCode = ManagedObjectModel("Code") {
        RecordEntity.self
        ContactEntity.self
        PersonEntity.self
        NoteEntity.self
        GroupEntity.self
    }
}

final class CodeDataSource: EntityDataSource {
    override class var entities: [ManagedObject.Type] { [RecordEntity.self, NoteEntity.self, GroupEntity.self] }
}
