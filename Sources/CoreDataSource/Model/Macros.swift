public import ManagedModel

/// Makes a class an entity: its stored properties become attributes and relationships of a model.
///
/// ```swift
/// @StoredEntity final class ContactEntity: ManagedObject {
///     @Stored(unique: true) var uid: String
///     var name: String = ""
///     var phone: String?
///     @Related(inverse: "contact", onDelete: .cascade)
///     var notes: RelatedObjects<NoteEntity>
///     var isReachable: Bool { phone != nil }
///     @Unstored var isSelected = false
/// }
/// ```
///
/// A property of one of these types is stored without more words, and so is an optional of it: Bool, Int16, Int32, Int64, Int, Float,
/// Double, Decimal, String, Date, UUID, URL, Data. Every other stored property has [`@Stored`](<doc:Stored(_:name:raw:unique:indexed:isOptional:isTransient:default:in:length:matching:derived:allowsExternalStorage:renamedFrom:hashModifier:transformer:className:isPreservedAfterDeletion:isCloudEncrypted:isIndexedBySpotlight:userInfo:)>),
/// [`@Related`](<doc:Related(inverse:onDelete:isOptional:count:isTransient:name:renamedFrom:hashModifier:userInfo:)>) or [`@Unstored`](<doc:Unstored()>). A literal is
/// the default value in the model; any other initial value is calculated once for each object that is inserted.
///
/// All arguments are literals, because `model-reset` reads them in the text.
///
/// - Parameters:
///   - name: The name of the entity; nil, the default, for that of the class.
///   - isAbstract: Whether it has no objects of its own, only those of its sub-entities.
///   - unique: Constraints over several attributes or to-one relationships, by their names in the model.
///   - indexes: The indexes that the store makes.
///   - renamedFrom: The name of the entity in an older version of the model.
///   - hashModifier: Part of the hash: changing it changes the model.
///   - userInfo: The author's notes.
///   - attributes: Attributes without a property.
///   - relationships: Relationships without a property.
///   - fetchedProperties: The fetched properties.
@attached(memberAttribute)
@attached(
    member,
    names: named(entityName), named(attributeKeyPaths), named(relationshipKeyPaths), named(optionalKeyPaths),
    named(declaredEntity),
    named(setInitialValues), named(StoredLayout))
public macro StoredEntity(
    _ name: String? = nil, isAbstract: Bool = false, unique: [[String]] = [], indexes: [FetchIndexDescription] = [],
    renamedFrom: String? = nil, hashModifier: String? = nil, userInfo: [String: String] = [:],
    attributes: [AttributeDescription] = [], relationships: [RelationshipDescription] = [],
    fetchedProperties: [FetchedPropertyDescription] = []
) = #externalMacro(module: "EntityMacros", type: "StoredEntity")

/// How a property is stored.
public enum StoredForm: Sendable, Hashable {
    /// As a value of its type.
    case plain
    /// As JSON; its type is `Codable`.
    case codable
    /// As the attributes of its type, a struct with [`@StoredComposite`](<doc:StoredComposite(_:)>).
    case composite
    /// As the bytes of a transformable whose type Swift cannot name; its type is `Data?`.
    case transformable
}

/// Says how a property of a class with [`@StoredEntity`](<doc:StoredEntity(_:isAbstract:unique:indexes:renamedFrom:hashModifier:userInfo:attributes:relationships:fetchedProperties:)>) is stored.
///
/// ```swift
/// @Stored(raw: Int16.self) var kind: Kind = .person
/// @Stored(renamedFrom: "mood", in: 0...5) var feeling: Int16 = 3
/// @Stored(.codable) var tags: [String] = []
/// @Stored(.composite) var address: Address?
/// @Stored(derived: "notes.@count") var noteCount: Int64
/// ```
///
/// - Parameters:
///   - form: How it is stored, if its type does not say so.
///   - name: The name of the attribute in the model; nil, the default, for that of the property.
///   - raw: The type of the raw values of an enum: Int16, Int32, Int64, Int or String. The enum is `AttributeStorable`.
///   - unique: Whether no two objects of the entity may have the same value.
///   - indexed: Whether the store has an index of it.
///   - isOptional: Whether it may be saved without a value; nil, the default, if the type of the property is optional.
///   - isTransient: Whether it is kept in memory only.
///   - default: The default value in the model, where the type of the property has no literals: a raw value, the string of a
///     UUID or of a URL.
///   - bounds: The least and the greatest value allowed: `0...5`, `0...` or `...5`.
///   - length: The least and the greatest length of a string, in characters.
///   - pattern: A regular expression that the whole string must match.
///   - derived: How a derived attribute gets its value.
///   - allowsExternalStorage: Whether large values stay in the store until they are needed.
///   - renamedFrom: The name of the attribute in an older version of the model.
///   - hashModifier: Part of the hash: changing it changes the model.
///   - transformer: The name of a transformer, which is kept and not used.
///   - className: The class of a transformable that Swift cannot name.
///   - isPreservedAfterDeletion: A flag of the model that is kept and not used.
///   - isCloudEncrypted: A flag of the model that is kept and not used.
///   - isIndexedBySpotlight: A flag of the model that is kept and not used.
///   - userInfo: The author's notes.
@attached(accessor)
public macro Stored(
    _ form: StoredForm = .plain, name: String? = nil, raw: (any AttributeStorable.Type)? = nil, unique: Bool = false,
    indexed: Bool = false, isOptional: Bool? = nil, isTransient: Bool = false, default: (any Sendable)? = nil,
    in bounds: (any RangeExpression)? = nil, length: (any RangeExpression)? = nil, matching pattern: String? = nil,
    derived: String? = nil, allowsExternalStorage: Bool = false, renamedFrom: String? = nil,
    hashModifier: String? = nil,
    transformer: String? = nil, className: String? = nil, isPreservedAfterDeletion: Bool = false,
    isCloudEncrypted: Bool = false,
    isIndexedBySpotlight: Bool = false, userInfo: [String: String] = [:]
) = #externalMacro(module: "EntityMacros", type: "Stored")

/// Makes a property a relationship: `Class?` leads to one object, `RelatedObjects<Class>` to many, and `[Class]` to many in an order.
///
/// - Parameters:
///   - inverse: The property of the other class that points back. One side is enough.
///   - onDelete: What happens to the destinations when the source is deleted.
///   - isOptional: Whether it may be saved without a destination.
///   - count: How many destinations a to-many relationship may have.
///   - isTransient: Whether a to-one relationship is kept in memory only.
///   - name: The name of the relationship in the model; nil, the default, for that of the property.
///   - renamedFrom: The name of the relationship in an older version of the model.
///   - hashModifier: Part of the hash: changing it changes the model.
///   - userInfo: The author's notes.
@attached(accessor)
public macro Related(
    inverse: String? = nil, onDelete: DeleteRule = .nullify, isOptional: Bool = true,
    count: (any RangeExpression)? = nil,
    isTransient: Bool = false, name: String? = nil, renamedFrom: String? = nil, hashModifier: String? = nil,
    userInfo: [String: String] = [:]
) = #externalMacro(module: "EntityMacros", type: "Related")

/// Keeps a property out of the model: each object in memory has its own value, which is lost when the context forgets the object.
@attached(peer)
public macro Unstored() = #externalMacro(module: "EntityMacros", type: "Unstored")

/// Makes a struct a composite: its stored properties become columns of the entities that have it.
///
/// ```swift
/// @StoredComposite struct Address {
///     var street: String = ""
///     @StoredPart(renamedFrom: "town") var city: String = ""
/// }
/// ```
///
/// - Parameter name: The name of the composite; nil, the default, for that of the struct.
@attached(member, names: named(init), named(StoredLayout))
@attached(
    extension, conformances: StoredCompositeValue,
    names: named(compositeName), named(columnCount), named(parts), named(attributes), named(init), named(isAbsent),
    named(write),
    named(setInitialValues))
public macro StoredComposite(_ name: String? = nil) = #externalMacro(module: "EntityMacros", type: "StoredComposite")

/// Says how a property of a struct with [`@StoredComposite`](<doc:StoredComposite(_:)>) is stored. Its arguments are those of `@Stored`.
@attached(peer)
public macro StoredPart(
    _ form: StoredForm = .plain, name: String? = nil, raw: (any AttributeStorable.Type)? = nil, isOptional: Bool? = nil,
    isTransient: Bool = false, default: (any Sendable)? = nil, in bounds: (any RangeExpression)? = nil,
    length: (any RangeExpression)? = nil, matching pattern: String? = nil, derived: String? = nil,
    allowsExternalStorage: Bool = false, renamedFrom: String? = nil, hashModifier: String? = nil,
    transformer: String? = nil,
    className: String? = nil, isPreservedAfterDeletion: Bool = false, isCloudEncrypted: Bool = false,
    isIndexedBySpotlight: Bool = false, userInfo: [String: String] = [:]
) = #externalMacro(module: "EntityMacros", type: "StoredPart")
