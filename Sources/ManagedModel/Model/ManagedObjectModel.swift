/// The entities of an app, with their attributes and relationships.
///
/// A model is a value. `ModelPlugin` generates a model as a Swift literal, and `ModelReader` reads a model at run time. Models
/// are not registered anywhere, and two containers can use the same model.
public struct ManagedObjectModel: Sendable {
    /// The name of the bundle without its extension, such as `Contacts`.
    public var name: String
    /// The name of the model version without its extension, such as `Contacts 2`.
    public var version: String
    /// Every entity, sorted by name.
    public var entities: [EntityDescription]
    /// The composite types that attributes of type ``AttributeType/composite`` use.
    public var composites: [CompositeDescription]
    /// The fetch requests stored with the model.
    public var fetchRequests: [FetchRequestTemplate]
    /// Named subsets of the entities. The unnamed default configuration, which has all entities, is not listed.
    public var configurations: [EntityConfiguration]
    /// The name passed to ``restricted(toConfiguration:)``; nil for a model with all entities. The name is not part of the
    /// hash.
    public package(set) var configurationName: String?
    /// The author's label for this version. The label is not part of the hash.
    public var versionIdentifier: String
    /// The earlier versions whose names a migration needs (see ``EarlierVersion``). The model reader finds these
    /// versions in the bundle or in the lock file. Earlier versions are not part of the hash.
    public var earlierVersions: [EarlierVersion]
    /// The Swift classes of entities, by entity name. The classes are not part of the hash, and `==` ignores them.
    ///
    /// Generated code sets the classes. A model that was read at run time has no classes, so its objects are plain
    /// `ManagedObject`s.
    public var classes: [String: any AnyObject.Type]
    /// The attributes whose initial values are evaluated for each new object. Each element names an entity or composite
    /// and its attribute, as in `Note.createdAt`. Only a model that was read from Swift files lists such attributes,
    /// because such a model has no classes that can evaluate the values. The attributes are not part of the hash, and `==`
    /// ignores them.
    package var evaluatedAttributes: Set<String> = []
    /// A fault in the classes that the model was made from. The descriptions do not show the fault, so this property
    /// keeps the fault until ``validate()`` throws an error for it.
    package var classError: ClassError?

    /// Makes a model.
    ///
    /// ```swift
    /// let model = ManagedObjectModel(name: "Mail", entities: [message, thread])
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the bundle, without its extension.
    ///   - version: The name of the version; nil, the default, for the name of the model.
    ///   - entities: Every entity, in any order.
    ///   - composites: The composite types of the attributes, in any order.
    ///   - fetchRequests: The fetch requests stored with the model, in any order.
    ///   - configurations: Named subsets of the entities.
    ///   - versionIdentifier: The author's label for the version.
    ///   - earlierVersions: The earlier versions whose names a migration needs (see ``EarlierVersion``).
    ///   - classes: The Swift classes of entities, by entity name.
    public init(
        name: String,
        version: String? = nil,
        entities: [EntityDescription],
        composites: [CompositeDescription] = [],
        fetchRequests: [FetchRequestTemplate] = [],
        configurations: [EntityConfiguration] = [],
        versionIdentifier: String = "",
        earlierVersions: [EarlierVersion] = [],
        classes: [String: any AnyObject.Type] = [:]
    ) {
        self.name = name
        self.version = version ?? name
        self.entities = entities.sorted { $0.name < $1.name }
        self.composites = composites.sorted { $0.name < $1.name }
        self.fetchRequests = fetchRequests
        self.configurations = configurations
        self.versionIdentifier = versionIdentifier
        self.earlierVersions = earlierVersions
        self.classes = classes
    }

    /// Returns the entity with the given name; nil if there is none.
    ///
    /// ```swift
    /// let contact = model.entity(named: "ContactEntity")
    /// ```
    ///
    /// - Complexity: O(log n) in the number of entities; O(n) if no entity has the name.
    public func entity(named name: String) -> EntityDescription? {
        // The entities are sorted by name, unless the app changed the array.
        var (low, high) = (0, entities.count)
        while low < high {
            let middle = (low + high) / 2
            if entities[middle].name < name { low = middle + 1 } else { high = middle }
        }
        if low < entities.count, entities[low].name == name { return entities[low] }
        return entities.first { $0.name == name }
    }
}

extension ManagedObjectModel: Equatable {
    /// Compares everything except ``classes``, faults in the classes, and the attributes with evaluated initial values.
    public static func == (lhs: ManagedObjectModel, rhs: ManagedObjectModel) -> Bool {
        lhs.name == rhs.name && lhs.version == rhs.version && lhs.entities == rhs.entities
            && lhs.composites == rhs.composites && lhs.fetchRequests == rhs.fetchRequests
            && lhs.configurations == rhs.configurations && lhs.versionIdentifier == rhs.versionIdentifier
            && lhs.earlierVersions == rhs.earlierVersions && lhs.configurationName == rhs.configurationName
    }
}

/// A fault in the Swift classes of a model, which makes the model invalid.
package struct ClassError: Sendable {
    package var entityName: String?
    package var propertyName: String?
    /// Describes the fault and how to correct it.
    package var message: String

    package init(entity: String?, property: String? = nil, _ message: String) {
        entityName = entity
        propertyName = property
        self.message = message
    }
}

/// A named subset of a model's entities.
public struct EntityConfiguration: Sendable, Hashable {
    /// The name of the subset.
    public var name: String
    /// The names of the subset's entities.
    public var entityNames: [String]

    /// Makes a configuration.
    ///
    /// ```swift
    /// let cache = EntityConfiguration(name: "Cache", entityNames: ["GroupEntity"])
    /// ```
    public init(name: String, entityNames: [String]) {
        self.name = name
        self.entityNames = entityNames
    }
}

/// A type that consists of several attributes. A store has one column for each leaf: an attribute that is not itself a
/// composite.
public struct CompositeDescription: Sendable, Hashable {
    /// The name by which attributes refer to the composite.
    public var name: String
    /// The attributes of the composite. An attribute can itself be a composite.
    public var attributes: [AttributeDescription]

    /// Makes a composite.
    ///
    /// ```swift
    /// let address = CompositeDescription(
    ///     name: "Address",
    ///     attributes: [AttributeDescription(name: "city", type: .string)])
    /// ```
    public init(name: String, attributes: [AttributeDescription]) {
        self.name = name
        self.attributes = attributes
    }
}

extension ManagedObjectModel {
    /// Returns the entity and its ancestors, nearest first. In an invalid model, the list ends at the start of a cycle.
    ///
    /// ```swift
    /// let names = model.lineage(of: contact).map(\.name)
    /// // ["ContactEntity", "BaseEntity"]
    /// ```
    ///
    /// - Complexity: one look-up by name for each ancestor.
    public func lineage(of entity: EntityDescription) -> [EntityDescription] {
        var lineage = [entity]
        while let parentName = lineage.last?.parentName, let parent = self.entity(named: parentName),
            !lineage.contains(where: { $0.name == parent.name })
        {
            lineage.append(parent)
        }
        return lineage
    }

    /// Returns the direct sub-entities of the entity with the given name, sorted by name.
    ///
    /// ```swift
    /// let names = model.children(ofEntityNamed: "BaseEntity").map(\.name)
    /// // ["ContactEntity", "GroupEntity"]
    /// ```
    ///
    /// - Complexity: O(n) in the number of entities.
    public func children(ofEntityNamed name: String) -> [EntityDescription] {
        entities.filter { $0.parentName == name }
    }

    /// Returns the entity with the given name and all its direct and indirect sub-entities, sorted by name.
    ///
    /// ```swift
    /// let count = model.family(ofEntityNamed: "BaseEntity").count  // 3
    /// ```
    ///
    /// - Complexity: O(n) in the number of entities, times the depth of inheritance.
    public func family(ofEntityNamed name: String) -> [EntityDescription] {
        guard entities.contains(where: { $0.parentName == name }) else { return entity(named: name).map { [$0] } ?? [] }
        var names: Set = [name]
        var count = 0
        while names.count > count {
            count = names.count
            for entity in entities where entity.parentName.map(names.contains) ?? false { names.insert(entity.name) }
        }
        return entities.filter { names.contains($0.name) }
    }
}

/// The names of entities and properties in an earlier version of a model.
///
/// A migration needs these names if the current names and renaming identifiers lead to the wrong element. For example, version
/// 2 renames an attribute, and version 3 gives the old name to a new attribute. Without the names of version 1, a migration
/// from version 1 to version 3 cannot tell which attribute has the values. The model reader therefore follows the names from
/// each version to the next. A bundle contains its versions, and the lock file contains the versions that were edited in place.
public struct EarlierVersion: Sendable, Hashable {
    /// The hash of the earlier version and the hashes of its configurations. A store of the earlier version has one of these
    /// hashes.
    public var hashes: Set<String>
    /// The names of entities in the earlier version, by their current names. New entities are not listed.
    public var entityNames: [String: String]
    /// The names of properties in the earlier version, by the current name of the entity and the current name of the
    /// property. The name of a composite's leaf has a dot, as in `address.city`. An entity is not listed if the current
    /// names and renaming identifiers of its properties already lead to the right properties.
    public var propertyNames: [String: [String: String]]

    /// Makes an earlier version.
    ///
    /// ```swift
    /// let earlier = EarlierVersion(
    ///     hashes: [hash.description], entityNames: ["ContactEntity": "PersonEntity"])
    /// ```
    public init(
        hashes: Set<String>, entityNames: [String: String], propertyNames: [String: [String: String]] = [:]
    ) {
        self.hashes = hashes
        self.entityNames = entityNames
        self.propertyNames = propertyNames
    }
}

/// A class that provides a model compiled into an app. Code can find the class by the name of the model.
///
/// `ModelPlugin` generates a conforming class for each model, so apps do not write such classes. Use ``ManagedObjectModel``
/// instead.
nonisolated public protocol GeneratedModel: AnyObject {
    /// The model.
    static var model: ManagedObjectModel { get }
}

extension ManagedObjectModel {
    /// The name of the class that is generated for a model. Different model names give different class names: each scalar that
    /// is not an ASCII letter or digit is replaced with its hexadecimal number.
    package static func generatedClassName(forModelNamed name: String) -> String {
        var className = "GeneratedModel_"
        for scalar in name.unicodeScalars {
            if scalar.isASCII, scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                className.unicodeScalars.append(scalar)
            } else {
                className += "_\(String(scalar.value, radix: 16))_"
            }
        }
        return className
    }
}
