// Made by model-codegen from the model AllTypes. Change the model, not this file.
// swift-format-ignore-file

public import CoreDataSource
public import Foundation

/// The entity `Bounded`.
nonisolated public class Bounded: ManagedObject {
    public override class var entityName: String { "Bounded" }

    public override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \Bounded.amount: "amount", \Bounded.code: "code", \Bounded.count: "count", \Bounded.day: "day", \Bounded.ratio: "ratio",
        ]
    }

    public override class var propertyNames: Set<String>? {
        guard entityName == "Bounded" else { return nil }
        return [
            "amount", "code", "count", "day", "ratio",
        ]
    }

    public final var amount: Decimal { get { attribute(at: 0) } set { setAttribute(newValue, at: 0) } }
    public final var code: String? { get { attribute(at: 1) } set { setAttribute(newValue, at: 1) } }
    public final var count: Int16 { get { attribute(at: 2) } set { setAttribute(newValue, at: 2) } }
    public final var day: Date? { get { attribute(at: 3) } set { setAttribute(newValue, at: 3) } }
    public final var ratio: Double { get { attribute(at: 4) } set { setAttribute(newValue, at: 4) } }
}

/// The entity `Child`.
nonisolated public class Child: Parent {
    public override class var entityName: String { "Child" }

    public override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \Child.createdAt: "createdAt", \Child.name: "name", \Child.nickname: "nickname",
        ]
    }

    public override class var relationshipKeyPaths: [AnyKeyPath: String] {
        [
            \Child.favourite: "favourite", \Child.children: "children", \Child.friends: "friends",
        ]
    }

    public override class var propertyNames: Set<String>? {
        guard entityName == "Child" else { return nil }
        return [
            "createdAt", "favourite", "name", "children", "nickname", "friends",
        ]
    }

    public final var nickname: String? { get { attribute(at: 4) } set { setAttribute(newValue, at: 4) } }
    public final var friends: [Child] { get { relatedList(at: 2) } set { setRelatedList(newValue, at: 2) } }
}

/// The entity `EveryType`.
nonisolated public class EveryType: ManagedObject {
    public override class var entityName: String { "EveryType" }

    public override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \EveryType.binaryOptional: "binaryOptional", \EveryType.binaryRequired: "binaryRequired",
            \EveryType.booleanOptional: "booleanOptional", \EveryType.booleanRequired: "booleanRequired",
            \EveryType.booleanZero: "booleanZero", \EveryType.dateOptional: "dateOptional", \EveryType.dateRequired: "dateRequired",
            \EveryType.decimalOptional: "decimalOptional", \EveryType.decimalRequired: "decimalRequired",
            \EveryType.doubleOptional: "doubleOptional", \EveryType.doubleRequired: "doubleRequired",
            \EveryType.doubleZero: "doubleZero", \EveryType.floatOptional: "floatOptional",
            \EveryType.floatRequired: "floatRequired", \EveryType.floatZero: "floatZero",
            \EveryType.integer16Optional: "integer16Optional", \EveryType.integer16Required: "integer16Required",
            \EveryType.integer16Zero: "integer16Zero", \EveryType.integer32Optional: "integer32Optional",
            \EveryType.integer32Required: "integer32Required", \EveryType.integer32Zero: "integer32Zero",
            \EveryType.integer64Optional: "integer64Optional", \EveryType.integer64Required: "integer64Required",
            \EveryType.integer64Zero: "integer64Zero", \EveryType.stringOptional: "stringOptional",
            \EveryType.stringRequired: "stringRequired", \EveryType.uriOptional: "uriOptional",
            \EveryType.uriRequired: "uriRequired", \EveryType.uuidOptional: "uuidOptional", \EveryType.uuidRequired: "uuidRequired",
        ]
    }

    public override class var propertyNames: Set<String>? {
        guard entityName == "EveryType" else { return nil }
        return [
            "binaryOptional", "binaryRequired", "booleanOptional", "booleanRequired", "booleanZero", "dateOptional", "dateRequired",
            "decimalOptional", "decimalRequired", "doubleOptional", "doubleRequired", "doubleZero", "floatOptional",
            "floatRequired", "floatZero", "integer16Optional", "integer16Required", "integer16Zero", "integer32Optional",
            "integer32Required", "integer32Zero", "integer64Optional", "integer64Required", "integer64Zero", "stringOptional",
            "stringRequired", "uriOptional", "uriRequired", "uuidOptional", "uuidRequired",
        ]
    }

    public final var binaryOptional: Data? { get { attribute(at: 0) } set { setAttribute(newValue, at: 0) } }
    public final var binaryRequired: Data { get { attribute(at: 1) } set { setAttribute(newValue, at: 1) } }
    public final var booleanOptional: Bool? { get { attribute(at: 2) } set { setAttribute(newValue, at: 2) } }
    public final var booleanRequired: Bool { get { attribute(at: 3) } set { setAttribute(newValue, at: 3) } }
    public final var booleanZero: Bool { get { attribute(at: 4) } set { setAttribute(newValue, at: 4) } }
    public final var dateOptional: Date? { get { attribute(at: 5) } set { setAttribute(newValue, at: 5) } }
    public final var dateRequired: Date { get { attribute(at: 6) } set { setAttribute(newValue, at: 6) } }
    public final var decimalOptional: Decimal? { get { attribute(at: 7) } set { setAttribute(newValue, at: 7) } }
    public final var decimalRequired: Decimal { get { attribute(at: 8) } set { setAttribute(newValue, at: 8) } }
    public final var doubleOptional: Double? { get { attribute(at: 9) } set { setAttribute(newValue, at: 9) } }
    public final var doubleRequired: Double { get { attribute(at: 10) } set { setAttribute(newValue, at: 10) } }
    public final var doubleZero: Double { get { attribute(at: 11) } set { setAttribute(newValue, at: 11) } }
    public final var floatOptional: Float? { get { attribute(at: 12) } set { setAttribute(newValue, at: 12) } }
    public final var floatRequired: Float { get { attribute(at: 13) } set { setAttribute(newValue, at: 13) } }
    public final var floatZero: Float { get { attribute(at: 14) } set { setAttribute(newValue, at: 14) } }
    public final var integer16Optional: Int16? { get { attribute(at: 15) } set { setAttribute(newValue, at: 15) } }
    public final var integer16Required: Int16 { get { attribute(at: 16) } set { setAttribute(newValue, at: 16) } }
    public final var integer16Zero: Int16 { get { attribute(at: 17) } set { setAttribute(newValue, at: 17) } }
    public final var integer32Optional: Int32? { get { attribute(at: 18) } set { setAttribute(newValue, at: 18) } }
    public final var integer32Required: Int32 { get { attribute(at: 19) } set { setAttribute(newValue, at: 19) } }
    public final var integer32Zero: Int32 { get { attribute(at: 20) } set { setAttribute(newValue, at: 20) } }
    public final var integer64Optional: Int64? { get { attribute(at: 21) } set { setAttribute(newValue, at: 21) } }
    public final var integer64Required: Int64 { get { attribute(at: 22) } set { setAttribute(newValue, at: 22) } }
    public final var integer64Zero: Int64 { get { attribute(at: 23) } set { setAttribute(newValue, at: 23) } }
    public final var stringOptional: String? { get { attribute(at: 24) } set { setAttribute(newValue, at: 24) } }
    public final var stringRequired: String { get { attribute(at: 25) } set { setAttribute(newValue, at: 25) } }
    public final var uriOptional: URL? { get { attribute(at: 26) } set { setAttribute(newValue, at: 26) } }
    public final var uriRequired: URL { get { attribute(at: 27) } set { setAttribute(newValue, at: 27) } }
    public final var uuidOptional: UUID? { get { attribute(at: 28) } set { setAttribute(newValue, at: 28) } }
    public final var uuidRequired: UUID { get { attribute(at: 29) } set { setAttribute(newValue, at: 29) } }
}

/// The abstract entity `Grandparent`.
nonisolated public class Grandparent: ManagedObject {
    public override class var entityName: String { "Grandparent" }

    public override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \Grandparent.createdAt: "createdAt",
        ]
    }

    public override class var relationshipKeyPaths: [AnyKeyPath: String] {
        [
            \Grandparent.favourite: "favourite",
        ]
    }

    public override class var optionalKeyPaths: [AnyKeyPath: String] {
        [
            \Grandparent?.?.createdAt: "createdAt", \Grandparent?.?.favourite: "favourite",
        ]
    }

    public override class var propertyNames: Set<String>? {
        guard entityName == "Grandparent" else { return nil }
        return [
            "createdAt", "favourite",
        ]
    }

    public final var createdAt: Date { get { attribute(at: 0) } set { setAttribute(newValue, at: 0) } }
    public final var favourite: Grandparent? { get { relatedObject(at: 0) } set { setRelatedObject(newValue, at: 0) } }
}

/// The entity `Keywords`.
nonisolated public class Keywords: ManagedObject {
    public override class var entityName: String { "Keywords" }

    public override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \Keywords.__: "-", \Keywords._1st: "1st", \Keywords.`Any`: "Any", \Keywords.Type_: "Type", \Keywords.a_b2: "a b",
            \Keywords.a_b3: "a-b", \Keywords.a_b: "a_b", \Keywords.`class`: "class", \Keywords.`default`: "default",
            \Keywords.`deinit`: "deinit", \Keywords.description_: "description", \Keywords.`extension`: "extension",
            \Keywords.init_: "init", \Keywords.`nil`: "nil", \Keywords.`protocol`: "protocol", \Keywords.self_: "self",
            \Keywords.`subscript`: "subscript", \Keywords.`super`: "super",
        ]
    }

    public override class var propertyNames: Set<String>? {
        guard entityName == "Keywords" else { return nil }
        return [
            "-", "1st", "Any", "Type", "a b", "a-b", "a_b", "class", "default", "deinit", "description", "extension", "init", "nil",
            "protocol", "self", "subscript", "super",
        ]
    }

    /// The attribute `-`.
    public final var __: String? { get { attribute(at: 0) } set { setAttribute(newValue, at: 0) } }
    /// The attribute `1st`.
    public final var _1st: String? { get { attribute(at: 1) } set { setAttribute(newValue, at: 1) } }
    public final var `Any`: String? { get { attribute(at: 2) } set { setAttribute(newValue, at: 2) } }
    /// The attribute `Type`.
    public final var Type_: String? { get { attribute(at: 3) } set { setAttribute(newValue, at: 3) } }
    /// The attribute `a b`.
    public final var a_b2: String? { get { attribute(at: 4) } set { setAttribute(newValue, at: 4) } }
    /// The attribute `a-b`.
    public final var a_b3: String? { get { attribute(at: 5) } set { setAttribute(newValue, at: 5) } }
    public final var a_b: String? { get { attribute(at: 6) } set { setAttribute(newValue, at: 6) } }
    public final var `class`: String? { get { attribute(at: 7) } set { setAttribute(newValue, at: 7) } }
    public final var `default`: String? { get { attribute(at: 8) } set { setAttribute(newValue, at: 8) } }
    public final var `deinit`: String? { get { attribute(at: 9) } set { setAttribute(newValue, at: 9) } }
    /// The attribute `description`.
    public final var description_: String? { get { attribute(at: 10) } set { setAttribute(newValue, at: 10) } }
    public final var `extension`: String? { get { attribute(at: 11) } set { setAttribute(newValue, at: 11) } }
    /// The attribute `init`.
    public final var init_: String? { get { attribute(at: 12) } set { setAttribute(newValue, at: 12) } }
    public final var `nil`: String? { get { attribute(at: 13) } set { setAttribute(newValue, at: 13) } }
    public final var `protocol`: String? { get { attribute(at: 14) } set { setAttribute(newValue, at: 14) } }
    /// The attribute `self`.
    public final var self_: String? { get { attribute(at: 15) } set { setAttribute(newValue, at: 15) } }
    public final var `subscript`: String? { get { attribute(at: 16) } set { setAttribute(newValue, at: 16) } }
    public final var `super`: String? { get { attribute(at: 17) } set { setAttribute(newValue, at: 17) } }
}

/// The entity `Parent`.
nonisolated public class Parent: Grandparent {
    public override class var entityName: String { "Parent" }

    public override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \Parent.createdAt: "createdAt", \Parent.name: "name",
        ]
    }

    public override class var relationshipKeyPaths: [AnyKeyPath: String] {
        [
            \Parent.favourite: "favourite", \Parent.children: "children",
        ]
    }

    public override class var optionalKeyPaths: [AnyKeyPath: String] {
        [
            \Parent?.?.createdAt: "createdAt", \Parent?.?.name: "name", \Parent?.?.favourite: "favourite",
            \Parent?.?.children: "children",
        ]
    }

    public override class var propertyNames: Set<String>? {
        guard entityName == "Parent" else { return nil }
        return [
            "createdAt", "favourite", "name", "children",
        ]
    }

    public final var name: String { get { attribute(at: 3) } set { setAttribute(newValue, at: 3) } }
    public final var children: RelatedObjects<Place> { relatedObjects(at: 1) }
}

/// The entity `Place`.
nonisolated public class Place: ManagedObject {
    public override class var entityName: String { "Place" }

    public override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \Place.address: "address", \Place.area: "area", \Place.origin: "origin", \Place.title: "title",
        ]
    }

    public override class var relationshipKeyPaths: [AnyKeyPath: String] {
        [
            \Place.owner: "owner",
        ]
    }

    public override class var propertyNames: Set<String>? {
        guard entityName == "Place" else { return nil }
        return [
            "address", "area", "origin", "title", "owner",
        ]
    }

    public final var address: Address? { get { Address.read(from: self, at: 0) } set { editTogether { Address.write(newValue, to: self, at: 0) } } }
    public final var area: Double { get { attribute(at: 6) } set { setAttribute(newValue, at: 6) } }
    public final var origin: Coordinate { get { Coordinate(reading: self, at: 7) } set { editTogether { Coordinate.write(newValue, to: self, at: 7) } } }
    public final var title: String { get { attribute(at: 10) } set { setAttribute(newValue, at: 10) } }
    public final var owner: Parent? { get { relatedObject(at: 0) } set { setRelatedObject(newValue, at: 0) } }
}

/// The entity `Special`.
nonisolated public class Special: ManagedObject {
    public override class var entityName: String { "Special" }

    public override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \Special.attachment: "attachment", \Special.canonicalTitle: "canonicalTitle", \Special.colour: "colour",
            \Special.cursor: "cursor", \Special.lengths: "lengths", \Special.secret: "secret", \Special.tags: "tags",
            \Special.title: "title", \Special.untyped: "untyped",
        ]
    }

    public override class var propertyNames: Set<String>? {
        guard entityName == "Special" else { return nil }
        return [
            "attachment", "canonicalTitle", "colour", "cursor", "lengths", "secret", "tags", "title", "untyped", "whatever",
        ]
    }

    public final var attachment: Data? { get { attribute(at: 0) } set { setAttribute(newValue, at: 0) } }
    /// Derived: `canonical:(title)`.
    public final var canonicalTitle: String? { attribute(at: 1) }
    /// Transformable. Swift cannot name the type of the value, so the property is the stored bytes.
    public final var colour: Data? { get { attribute(at: 2) } set { setAttribute(newValue, at: 2) } }
    /// Transient: not in the store.
    public final var cursor: String? { get { attribute(at: 3) } set { setAttribute(newValue, at: 3) } }
    public final var lengths: [String: Int64]? { get { transformable(at: 4) } set { setTransformable(newValue, at: 4) } }
    public final var secret: String? { get { attribute(at: 5) } set { setAttribute(newValue, at: 5) } }
    public final var tags: [String]? { get { transformable(at: 6) } set { setTransformable(newValue, at: 6) } }
    public final var title: String? { get { attribute(at: 7) } set { setAttribute(newValue, at: 7) } }
    /// Transformable. Swift cannot name the type of the value, so the property is the stored bytes.
    public final var untyped: Data? { get { attribute(at: 8) } set { setAttribute(newValue, at: 8) } }

    // `whatever` has no property: attributes of type Undefined have no Swift type.
}

/// The entity `Étage`.
nonisolated public class Étage: ManagedObject {
    public override class var entityName: String { "Étage" }

    public override class var attributeKeyPaths: [AnyKeyPath: String] {
        [
            \Étage.größe: "größe", \Étage.名前: "名前",
        ]
    }

    public override class var propertyNames: Set<String>? {
        guard entityName == "Étage" else { return nil }
        return [
            "größe", "名前",
        ]
    }

    public final var größe: Int32 { get { attribute(at: 0) } set { setAttribute(newValue, at: 0) } }
    public final var 名前: String? { get { attribute(at: 1) } set { setAttribute(newValue, at: 1) } }
}

nonisolated extension Place {
    /// The fetch request `TitledPlaces`: `title != ""`.
    public static func fetchRequestTitledPlaces() throws -> ObjectRequest<Place> {
        try ObjectRequest(Place.self, where: FetchPredicate(format: "title != \"\""), limit: 20)
    }
}

/// The composite `Address`.
nonisolated public struct Address: CompositeValue, Sendable, Hashable {
    public var `class`: String?
    public var coordinate: Coordinate?
    public var street: String
    public var tags: [String]?

    public init(`class`: String? = nil, coordinate: Coordinate? = nil, street: String, tags: [String]? = nil) {
        self.`class` = `class`
        self.coordinate = coordinate
        self.street = street
        self.tags = tags
    }
}

nonisolated extension Address {
    public static var partKeyPaths: [AnyKeyPath: String] {
        var paths: [AnyKeyPath: String] = [:]
        paths[\Address.`class`] = "class"
        paths[\Address.coordinate] = "coordinate"
        paths[\Address.street] = "street"
        paths[\Address.tags] = "tags"
        paths[\Address?.?.`class`] = "class"
        paths[\Address?.?.coordinate] = "coordinate"
        paths[\Address?.?.street] = "street"
        paths[\Address?.?.tags] = "tags"
        return paths
    }

    /// The value, or nil if every leaf is nil.
    fileprivate static func read(from object: ManagedObject, at column: Int) -> Address? {
        isAbsent(from: object, at: column) ? nil : Address(reading: object, at: column)
    }

    fileprivate init(reading object: ManagedObject, at column: Int) {
        self.`class` = object.attribute(at: column)
        self.coordinate = Coordinate.read(from: object, at: column + 1)
        self.street = object.attribute(at: column + 4)
        self.tags = object.transformable(at: column + 5)
    }

    fileprivate static func isAbsent(from object: ManagedObject, at column: Int) -> Bool {
        guard (object.attribute(at: column) as String?) == nil else { return false }
        guard Coordinate.isAbsent(from: object, at: column + 1) else { return false }
        guard (object.attribute(at: column + 4) as String?) == nil else { return false }
        guard (object.transformable(at: column + 5) as [String]?) == nil else { return false }
        return true
    }

    fileprivate static func write(_ value: Address?, to object: ManagedObject, at column: Int) {
        object.setAttribute(value?.`class`, at: column)
        Coordinate.write(value?.coordinate, to: object, at: column + 1)
        object.setAttribute(value?.street, at: column + 4)
        object.setTransformable(value?.tags, at: column + 5)
    }
}

/// The composite `Coordinate`.
nonisolated public struct Coordinate: CompositeValue, Sendable, Hashable {
    public var latitude: Double
    public var longitude: Double
    public var measured: Date?

    public init(latitude: Double, longitude: Double, measured: Date? = nil) {
        self.latitude = latitude
        self.longitude = longitude
        self.measured = measured
    }
}

nonisolated extension Coordinate {
    public static var partKeyPaths: [AnyKeyPath: String] {
        var paths: [AnyKeyPath: String] = [:]
        paths[\Coordinate.latitude] = "latitude"
        paths[\Coordinate.longitude] = "longitude"
        paths[\Coordinate.measured] = "measured"
        paths[\Coordinate?.?.latitude] = "latitude"
        paths[\Coordinate?.?.longitude] = "longitude"
        paths[\Coordinate?.?.measured] = "measured"
        return paths
    }

    /// The value, or nil if every leaf is nil.
    fileprivate static func read(from object: ManagedObject, at column: Int) -> Coordinate? {
        isAbsent(from: object, at: column) ? nil : Coordinate(reading: object, at: column)
    }

    fileprivate init(reading object: ManagedObject, at column: Int) {
        self.latitude = object.attribute(at: column)
        self.longitude = object.attribute(at: column + 1)
        self.measured = object.attribute(at: column + 2)
    }

    fileprivate static func isAbsent(from object: ManagedObject, at column: Int) -> Bool {
        guard (object.attribute(at: column) as Double?) == nil else { return false }
        guard (object.attribute(at: column + 1) as Double?) == nil else { return false }
        guard (object.attribute(at: column + 2) as Date?) == nil else { return false }
        return true
    }

    fileprivate static func write(_ value: Coordinate?, to object: ManagedObject, at column: Int) {
        object.setAttribute(value?.latitude, at: column)
        object.setAttribute(value?.longitude, at: column + 1)
        object.setAttribute(value?.measured, at: column + 2)
    }
}

nonisolated extension ManagedObjectModel {
    /// The model `AllTypes` in its version `AllTypes`.
    public static let allTypes = ManagedObjectModel(
        name: "AllTypes",
        entities: [
            AllTypesEntities.bounded(),
            AllTypesEntities.child(),
            AllTypesEntities.everyType(),
            AllTypesEntities.grandparent(),
            AllTypesEntities.keywords(),
            AllTypesEntities.parent(),
            AllTypesEntities.place(),
            AllTypesEntities.special(),
            AllTypesEntities.étage(),
        ],
        composites: [
            CompositeDescription(
                name: "Address",
                attributes: [
                    AttributeDescription(name: "class", type: .string, isOptional: true),
                    AttributeDescription(name: "coordinate", type: .composite, isOptional: true, compositeName: "Coordinate"),
                    AttributeDescription(name: "street", type: .string, defaultValue: .string("")),
                    AttributeDescription(name: "tags", type: .transformable, isOptional: true, customClassName: "[String]"),
                ]),
            CompositeDescription(
                name: "Coordinate",
                attributes: [
                    AttributeDescription(name: "latitude", type: .double, defaultValue: .double(0.0), usesScalarValueType: true),
                    AttributeDescription(name: "longitude", type: .double, defaultValue: .double(0.0), usesScalarValueType: true),
                    AttributeDescription(name: "measured", type: .date, isOptional: true),
                ]),
        ],
        fetchRequests: [FetchRequestTemplate(name: "TitledPlaces", entityName: "Place", predicateFormat: "title != \"\"", fetchLimit: 20)],
        configurations: [EntityConfiguration(name: "Families", entityNames: ["Child", "Parent"])],
        versionIdentifier: "1.0",
        classes: allTypesClasses())
}

/// Lets the library find the model `AllTypes` by its name.
nonisolated final class GeneratedModel_AllTypes: GeneratedModel {
    static var model: ManagedObjectModel { .allTypes }
}

/// The class of each entity of `AllTypes`.
nonisolated private func allTypesClasses() -> [String: any AnyObject.Type] {
    [
        "Bounded": Bounded.self,
        "Child": Child.self,
        "EveryType": EveryType.self,
        "Grandparent": Grandparent.self,
        "Keywords": Keywords.self,
        "Parent": Parent.self,
        "Place": Place.self,
        "Special": Special.self,
        "Étage": Étage.self,
    ]
}

/// The entities of `AllTypes`, a function for each.
nonisolated private enum AllTypesEntities {
    static func bounded() -> EntityDescription {
        EntityDescription(
            name: "Bounded",
            className: "Bounded",
            attributes: [
                AttributeDescription(
                    name: "amount",
                    type: .decimal,
                    defaultValue: .decimal(Decimal(string: "1.25") ?? 0),
                    minimum: .decimal(Decimal(string: "-0.5") ?? 0),
                    maximum: .decimal(Decimal(string: "99.95") ?? 0)),
                AttributeDescription(name: "code", type: .string, isOptional: true, minimum: .integer(2), maximum: .integer(8), pattern: "[A-Z]+\\d*"),
                AttributeDescription(name: "count", type: .integer16, defaultValue: .integer(0), usesScalarValueType: true, minimum: .integer(0), maximum: .integer(100)),
                AttributeDescription(name: "day", type: .date, isOptional: true, minimum: .date(0.0), maximum: .date(86400.0)),
                AttributeDescription(name: "ratio", type: .double, defaultValue: .double(0.5), usesScalarValueType: true, minimum: .double(0.0), maximum: .double(1.0)),
            ],
            uniquenessConstraints: [["code", "day"], ["count"]],
            codeGeneration: .class)
    }
    static func child() -> EntityDescription {
        EntityDescription(
            name: "Child",
            className: ".Child",
            parentName: "Parent",
            attributes: [AttributeDescription(name: "nickname", type: .string, isOptional: true, renamingIdentifier: "petName")],
            relationships: [RelationshipDescription(name: "friends", destinationName: "Child", inverseName: "friends", isToMany: true, isOrdered: true, isOptional: true)],
            renamingIdentifier: "Kid",
            codeGeneration: .class)
    }
    static func everyType() -> EntityDescription {
        EntityDescription(
            name: "EveryType",
            className: "Samples.EveryType",
            attributes: [
                AttributeDescription(name: "binaryOptional", type: .binary, isOptional: true),
                AttributeDescription(name: "binaryRequired", type: .binary),
                AttributeDescription(name: "booleanOptional", type: .boolean, isOptional: true),
                AttributeDescription(name: "booleanRequired", type: .boolean, defaultValue: .boolean(true), usesScalarValueType: true),
                AttributeDescription(name: "booleanZero", type: .boolean, isOptional: true, usesScalarValueType: true),
                AttributeDescription(name: "dateOptional", type: .date, isOptional: true),
                AttributeDescription(name: "dateRequired", type: .date, defaultValue: .date(631123200.0)),
                AttributeDescription(name: "decimalOptional", type: .decimal, isOptional: true),
                AttributeDescription(name: "decimalRequired", type: .decimal, defaultValue: .decimal(Decimal(string: "12345678901234567890.123456789") ?? 0)),
                AttributeDescription(name: "doubleOptional", type: .double, isOptional: true),
                AttributeDescription(name: "doubleRequired", type: .double, defaultValue: .double(0.1), usesScalarValueType: true),
                AttributeDescription(name: "doubleZero", type: .double, isOptional: true, usesScalarValueType: true),
                AttributeDescription(name: "floatOptional", type: .float, isOptional: true),
                AttributeDescription(name: "floatRequired", type: .float, defaultValue: .double(1.5), usesScalarValueType: true),
                AttributeDescription(name: "floatZero", type: .float, isOptional: true, usesScalarValueType: true),
                AttributeDescription(name: "integer16Optional", type: .integer16, isOptional: true),
                AttributeDescription(name: "integer16Required", type: .integer16, defaultValue: .integer(-16), usesScalarValueType: true),
                AttributeDescription(name: "integer16Zero", type: .integer16, isOptional: true, usesScalarValueType: true),
                AttributeDescription(name: "integer32Optional", type: .integer32, isOptional: true),
                AttributeDescription(name: "integer32Required", type: .integer32, defaultValue: .integer(32), usesScalarValueType: true),
                AttributeDescription(name: "integer32Zero", type: .integer32, isOptional: true, usesScalarValueType: true),
                AttributeDescription(name: "integer64Optional", type: .integer64, isOptional: true),
                AttributeDescription(name: "integer64Required", type: .integer64, defaultValue: .integer(9223372036854775807), usesScalarValueType: true),
                AttributeDescription(name: "integer64Zero", type: .integer64, isOptional: true, usesScalarValueType: true),
                AttributeDescription(name: "stringOptional", type: .string, isOptional: true),
                AttributeDescription(name: "stringRequired", type: .string, defaultValue: .string("say \"hi\" \\(there)")),
                AttributeDescription(name: "uriOptional", type: .uri, isOptional: true),
                AttributeDescription(name: "uriRequired", type: .uri),
                AttributeDescription(name: "uuidOptional", type: .uuid, isOptional: true),
                AttributeDescription(name: "uuidRequired", type: .uuid),
            ],
            codeGeneration: .class)
    }
    static func grandparent() -> EntityDescription {
        EntityDescription(
            name: "Grandparent",
            className: "Grandparent",
            isAbstract: true,
            attributes: [AttributeDescription(name: "createdAt", type: .date, defaultValue: .date(0.0))],
            relationships: [RelationshipDescription(name: "favourite", destinationName: "Grandparent", isOptional: true, deleteRule: .noAction)],
            codeGeneration: .class)
    }
    static func keywords() -> EntityDescription {
        EntityDescription(
            name: "Keywords",
            attributes: [
                AttributeDescription(name: "-", type: .string, isOptional: true),
                AttributeDescription(name: "1st", type: .string, isOptional: true),
                AttributeDescription(name: "Any", type: .string, isOptional: true),
                AttributeDescription(name: "Type", type: .string, isOptional: true),
                AttributeDescription(name: "a b", type: .string, isOptional: true),
                AttributeDescription(name: "a-b", type: .string, isOptional: true),
                AttributeDescription(name: "a_b", type: .string, isOptional: true),
                AttributeDescription(name: "class", type: .string, isOptional: true),
                AttributeDescription(name: "default", type: .string, isOptional: true),
                AttributeDescription(name: "deinit", type: .string, isOptional: true),
                AttributeDescription(name: "description", type: .string, isOptional: true),
                AttributeDescription(name: "extension", type: .string, isOptional: true),
                AttributeDescription(name: "init", type: .string, isOptional: true),
                AttributeDescription(name: "nil", type: .string, isOptional: true),
                AttributeDescription(name: "protocol", type: .string, isOptional: true),
                AttributeDescription(name: "self", type: .string, isOptional: true),
                AttributeDescription(name: "subscript", type: .string, isOptional: true),
                AttributeDescription(name: "super", type: .string, isOptional: true),
            ],
            codeGeneration: .class)
    }
    static func parent() -> EntityDescription {
        EntityDescription(
            name: "Parent",
            className: "Parent",
            parentName: "Grandparent",
            attributes: [AttributeDescription(name: "name", type: .string, versionHashModifier: "trimmed")],
            relationships: [
                RelationshipDescription(
                    name: "children",
                    destinationName: "Place",
                    inverseName: "owner",
                    isToMany: true,
                    isOptional: true,
                    minimumCount: 1,
                    maximumCount: 9,
                    deleteRule: .cascade),
            ],
            userInfo: ["unit \\(x)": "a \"b\"\nc"],
            versionHashModifier: "second shape",
            codeGeneration: .class)
    }
    static func place() -> EntityDescription {
        EntityDescription(
            name: "Place",
            attributes: [
                AttributeDescription(name: "address", type: .composite, isOptional: true, compositeName: "Address"),
                AttributeDescription(name: "area", type: .double, isOptional: true, usesScalarValueType: true),
                AttributeDescription(name: "origin", type: .composite, compositeName: "Coordinate"),
                AttributeDescription(name: "title", type: .string, defaultValue: .string("")),
            ],
            relationships: [RelationshipDescription(name: "owner", destinationName: "Parent", inverseName: "children", isOptional: true, deleteRule: .deny)],
            indexes: [
                FetchIndexDescription(name: "byTitle", elements: [FetchIndexDescription.Element(property: "title", isAscending: false), FetchIndexDescription.Element(property: "area")]),
            ],
            codeGeneration: .class)
    }
    static func special() -> EntityDescription {
        EntityDescription(
            name: "Special",
            attributes: [
                AttributeDescription(name: "attachment", type: .binary, isOptional: true, allowsExternalBinaryDataStorage: true, preservesValueInHistoryOnDeletion: true),
                AttributeDescription(name: "canonicalTitle", type: .string, isOptional: true, derivationExpression: "canonical:(title)"),
                AttributeDescription(name: "colour", type: .transformable, isOptional: true, valueTransformerName: "NSSecureUnarchiveFromData", customClassName: "NSObject"),
                AttributeDescription(name: "cursor", type: .string, isOptional: true, isTransient: true),
                AttributeDescription(name: "lengths", type: .transformable, isOptional: true, customClassName: "[String : Int64]"),
                AttributeDescription(name: "secret", type: .string, isOptional: true, allowsCloudEncryption: true),
                AttributeDescription(name: "tags", type: .transformable, customClassName: "[String]"),
                AttributeDescription(name: "title", type: .string, isOptional: true, isIndexed: true, isIndexedBySpotlight: true),
                AttributeDescription(name: "untyped", type: .transformable, isOptional: true),
                AttributeDescription(name: "whatever", type: .undefined, isOptional: true, isTransient: true),
            ],
            codeGeneration: .class)
    }
    static func étage() -> EntityDescription {
        EntityDescription(
            name: "Étage",
            className: "Étage",
            attributes: [
                AttributeDescription(name: "größe", type: .integer32, defaultValue: .integer(0), usesScalarValueType: true),
                AttributeDescription(name: "名前", type: .string, isOptional: true),
            ],
            codeGeneration: .class)
    }
}
