/// The entities of an app, their attributes and how they relate.
///
/// A model is a plain value: `ModelPlugin` generates it as a Swift literal, or `ModelReader` reads it at run time. Models are
/// not registered anywhere; two containers may use the same one.
public struct ManagedObjectModel: Sendable {
    /// The name of the bundle, without its extension: `Contacts`.
    public var name: String
    /// The name of the model version, without its extension: `Contacts 2`.
    public var version: String
    /// Every entity, sorted by name.
    public var entities: [EntityDescription]
    /// The composite types that attributes of type ``AttributeType/composite`` use.
    public var composites: [CompositeDescription]
    /// The fetch requests stored with the model.
    public var fetchRequests: [FetchRequestTemplate]
    /// Named subsets of the entities. The unnamed default configuration, which holds all of them, is not listed.
    public var configurations: [EntityConfiguration]
    /// The configuration that ``restricted(toConfiguration:)`` has made this model of; nil for a whole model. It is not part of the
    /// hash.
    public package(set) var configurationName: String?
    /// The author's own label for this version. It is not part of the hash.
    public var versionIdentifier: String
    /// The versions before this one, in the bundle or the lock file, from which a migration cannot go by this version alone. They are
    /// not part of the hash.
    public var earlierVersions: [EarlierVersion]
    /// The Swift class of each entity that has one, by entity name. It is part of neither the hash nor equality.
    ///
    /// Generated code sets it; a model that was read at run time has no classes, and its objects are plain `ManagedObject`s.
    public var classes: [String: any AnyObject.Type]

    /// Makes a model of entities in any order.
    ///
    /// - Parameters:
    ///   - name: The name of the bundle, without its extension.
    ///   - version: The name of the version; nil, the default, for the name of the model.
    ///   - entities: Every entity, in any order.
    ///   - composites: The composite types that attributes name, in any order.
    ///   - fetchRequests: The fetch requests stored with the model, in any order.
    ///   - configurations: Named subsets of the entities.
    ///   - versionIdentifier: The author's own label for the version.
    ///   - earlierVersions: The versions before this one from which a migration cannot go by this version alone.
    ///   - classes: The Swift class of each entity that has one, by entity name.
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

    /// The entity with that name, or nil.
    public func entity(named name: String) -> EntityDescription? {
        // They are sorted by name, unless the array was changed.
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
    /// Compares everything except ``classes``.
    public static func == (one: ManagedObjectModel, other: ManagedObjectModel) -> Bool {
        one.name == other.name && one.version == other.version && one.entities == other.entities
            && one.composites == other.composites && one.fetchRequests == other.fetchRequests
            && one.configurations == other.configurations && one.versionIdentifier == other.versionIdentifier
            && one.earlierVersions == other.earlierVersions && one.configurationName == other.configurationName
    }
}

/// A named subset of a model's entities.
public struct EntityConfiguration: Sendable, Hashable {
    /// The name of the subset.
    public var name: String
    /// The names of its entities.
    public var entityNames: [String]

    /// Makes a configuration.
    public init(name: String, entityNames: [String]) {
        self.name = name
        self.entityNames = entityNames
    }
}

/// A value made of several attributes, stored as one column per leaf.
public struct CompositeDescription: Sendable, Hashable {
    /// The name by which attributes refer to it.
    public var name: String
    /// Its parts. An attribute can itself be a composite.
    public var attributes: [AttributeDescription]

    /// Makes a composite.
    public init(name: String, attributes: [AttributeDescription]) {
        self.name = name
        self.attributes = attributes
    }
}

extension ManagedObjectModel {
    /// The entity and its ancestors, nearest first. A cycle, which no checked model has, ends the list.
    public func lineage(of entity: EntityDescription) -> [EntityDescription] {
        var lineage = [entity]
        while let parentName = lineage.last?.parentName, let parent = self.entity(named: parentName),
            !lineage.contains(where: { $0.name == parent.name })
        {
            lineage.append(parent)
        }
        return lineage
    }

    /// The direct sub-entities of the entity of that name, sorted by name.
    public func children(ofEntityNamed name: String) -> [EntityDescription] {
        entities.filter { $0.parentName == name }
    }

    /// The entity of that name and all entities below it.
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

/// What the elements of an earlier version of a model are called now, for versions from which the names and the renaming identifiers
/// of now alone would lead elsewhere.
///
/// One version renames an attribute, and the next one gives its old name to a new attribute: whoever skips the version between them
/// can only guess what became of the values. A bundle has its versions, and the lock file what was edited in place, so what reads them
/// follows the names from each to the next.
public struct EarlierVersion: Sendable, Hashable {
    /// The hash of that version, and the hash of each of its configurations. A store of it was made for one of them.
    public var hashes: Set<String>
    /// The names that entities have in that version, by their names now, without those that are new.
    public var entityNames: [String: String]
    /// The names that properties have in that version, by the name of the entity now, and their own names now; the leaves of
    /// composites as `address.city`. An entity that is not listed has the properties that its names and identifiers say.
    public var propertyNames: [String: [String: String]]

    /// Makes the names of a version.
    public init(
        hashes: Set<String>, entityNames: [String: String], propertyNames: [String: [String: String]] = [:]
    ) {
        self.hashes = hashes
        self.entityNames = entityNames
        self.propertyNames = propertyNames
    }
}

/// A model that is compiled into a module of an app, for code that knows only its name.
///
/// `ModelPlugin` generates a class for each model; apps use ``ManagedObjectModel`` and need no class of their own.
nonisolated public protocol GeneratedModel: AnyObject {
    /// The model.
    static var model: ManagedObjectModel { get }
}

extension ManagedObjectModel {
    /// The name of the class that is generated for the model with that name. Different models have different classes: a scalar
    /// that is not an ASCII letter or digit becomes its number.
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
