public import ManagedModel

/// Makes a class an entity. The stored properties of the class become attributes and relationships of a model.
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
/// A property needs no macro if its type is one of these types or an optional of one of them: Bool, Int16, Int32, Int64, Int,
/// Float, Double, Decimal, String, Date, UUID, URL, Data. Every other stored property needs
/// [`@Stored`](<doc:Stored(_:name:raw:unique:indexed:isOptional:isTransient:default:in:length:matching:derived:allowsExternalStorage:renamedFrom:hashModifier:transformer:className:isPreservedAfterDeletion:isCloudEncrypted:isIndexedBySpotlight:userInfo:)>),
/// [`@Related`](<doc:Related(inverse:onDelete:isOptional:count:isTransient:name:renamedFrom:hashModifier:userInfo:)>) or
/// [`@Unstored`](<doc:Unstored()>). An initial value that is a literal, or a case of an enum, becomes the default value
/// in the model. Any other initial value, such as `Date()`, is calculated once for each inserted object, and so is each initial
/// value of a `.codable` property, such as `[]`. A migration that adds the property gives all existing objects one such value. If
/// each calculation gives another value, as `UUID()` does, a migration cannot add the property, unless the property is optional.
///
/// All arguments must be literals, because `model-reset` reads them from the source code.
///
/// - Parameters:
///   - name: The name of the entity; nil, the default, for the name of the class.
///   - isAbstract: Whether the entity is abstract: all its objects are objects of its sub-entities.
///   - unique: The uniqueness constraints over several attributes or to-one relationships, given by their names in the model.
///   - indexes: The indexes that the store creates.
///   - renamedFrom: The first name of the entity, from the version before the first renaming. Keep this name in all later
///     versions: see <doc:ResetAndMigration#Renamed-and-over-several-versions>.
///   - hashModifier: A part of the model's hash. If this string changes, the model counts as changed.
///   - userInfo: Notes of the model's author.
///   - attributes: Attributes that have no property in the class.
///   - relationships: Relationships that have no property in the class.
///   - fetchedProperties: The fetched properties.
@attached(memberAttribute)
@attached(
    member,
    names: named(entityName), named(attributeKeyPaths), named(relationshipKeyPaths), named(optionalKeyPaths),
    named(declaredEntity), named(init),
    named(setInitialValues), named(StoredLayout), named(StoredInitialValues))
public macro StoredEntity(
    _ name: String? = nil, isAbstract: Bool = false, unique: [[String]] = [], indexes: [FetchIndexDescription] = [],
    renamedFrom: String? = nil, hashModifier: String? = nil, userInfo: [String: String] = [:],
    attributes: [AttributeDescription] = [], relationships: [RelationshipDescription] = [],
    fetchedProperties: [FetchedPropertyDescription] = []
) = #externalMacro(module: "EntityMacros", type: "StoredEntity")

/// How a property is stored.
public enum StoredForm: Sendable, Hashable {
    /// As a value of the property's type.
    case plain
    /// As JSON. The type of the property must be `Codable`.
    case codable
    /// As several attributes. The type of the property must be a struct with [`@StoredComposite`](<doc:StoredComposite(_:)>).
    case composite
    /// As the stored bytes of a transformable attribute whose class name cannot be written as a Swift type. The type of the
    /// property must be `Data?`.
    case transformable
}

/// Sets how a property of a class with
/// [`@StoredEntity`](<doc:StoredEntity(_:isAbstract:unique:indexes:renamedFrom:hashModifier:userInfo:attributes:relationships:fetchedProperties:)>)
/// is stored.
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
///   - form: How the property is stored, if the type of the property does not determine this.
///   - name: The name of the attribute in the model; nil, the default, for the name of the property.
///   - raw: The type of the raw values of an enum: Int16, Int32, Int64, Int or String. The enum must conform to
///     `AttributeStorable`.
///   - unique: Whether the value must be unique among the objects of the entity.
///   - indexed: Whether the store has an index of the attribute.
///   - isOptional: Whether an object can be saved without a value of the attribute. Nil, the default, means yes if the
///     type of the property is optional, and no otherwise.
///   - isTransient: Whether the attribute is kept only in memory.
///   - default: The default value in the model, if the type of the property has no literals: a raw value, or the string of a
///     UUID or a URL.
///   - bounds: The least and the greatest value allowed: `0...5`, `0...` or `...5`.
///   - length: The least and the greatest length of a string, in characters.
///   - pattern: A regular expression that the whole string must match.
///   - derived: The expression that calculates the value of a derived attribute.
///   - allowsExternalStorage: Whether large values stay in the store until they are needed.
///   - renamedFrom: The first name of the attribute, from the version before the first renaming. Keep this name in all later
///     versions: see <doc:ResetAndMigration#Renamed-and-over-several-versions>.
///   - hashModifier: A part of the model's hash. If this string changes, the model counts as changed.
///   - transformer: The name of a transformer. The name is kept in the model, but not used.
///   - className: The class name of a transformable attribute in the model, if it cannot be written as a Swift type.
///   - isPreservedAfterDeletion: A flag that is kept in the model, but not used.
///   - isCloudEncrypted: A flag that is kept in the model, but not used.
///   - isIndexedBySpotlight: A flag that is kept in the model, but not used.
///   - userInfo: Notes of the model's author.
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

/// Makes a property a relationship. The type `Class?` stands for a single object, `RelatedObjects<Class>` for a set of objects,
/// and `[Class]` for an ordered list of objects.
///
/// - Parameters:
///   - inverse: The property of the other class that is the inverse relationship. Only one of the two classes has to name the
///     inverse.
///   - onDelete: The effect on the related objects when the object with this property is deleted.
///   - isOptional: Whether an object can be saved without a related object.
///   - count: The allowed number of objects in a to-many relationship.
///   - isTransient: Whether a to-one relationship is kept only in memory.
///   - name: The name of the relationship in the model; nil, the default, for the name of the property.
///   - renamedFrom: The first name of the relationship, from the version before the first renaming. Keep this name in all later
///     versions: see <doc:ResetAndMigration#Renamed-and-over-several-versions>.
///   - hashModifier: A part of the model's hash. If this string changes, the model counts as changed.
///   - userInfo: Notes of the model's author.
@attached(accessor)
public macro Related(
    inverse: String? = nil, onDelete: DeleteRule = .nullify, isOptional: Bool = true,
    count: (any RangeExpression)? = nil,
    isTransient: Bool = false, name: String? = nil, renamedFrom: String? = nil, hashModifier: String? = nil,
    userInfo: [String: String] = [:]
) = #externalMacro(module: "EntityMacros", type: "Related")

/// Excludes a property from the model. Each object in memory has its own value, which is lost when the context forgets the
/// object.
@attached(peer)
public macro Unstored() = #externalMacro(module: "EntityMacros", type: "Unstored")

/// Makes a struct a composite. The stored properties of the struct become columns of the entities that use the struct.
///
/// ```swift
/// @StoredComposite struct Address {
///     var street: String = ""
///     @StoredPart(renamedFrom: "town") var city: String = ""
/// }
/// ```
///
/// - Parameter name: The name of the composite; nil, the default, for the name of the struct.
@attached(member, names: named(init), named(write), named(StoredLayout), named(StoredInitialValues))
@attached(
    extension, conformances: StoredCompositeValue,
    names: named(compositeName), named(columnCount), named(parts), named(attributes), named(init), named(isAbsent),
    named(setInitialValues), named(partKeyPaths))
public macro StoredComposite(_ name: String? = nil) = #externalMacro(module: "EntityMacros", type: "StoredComposite")

/// Sets how a property of a struct with [`@StoredComposite`](<doc:StoredComposite(_:)>) is stored. The arguments have the same
/// meanings as in `@Stored`.
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
