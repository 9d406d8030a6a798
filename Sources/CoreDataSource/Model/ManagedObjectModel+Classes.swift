public import ManagedModel

extension ManagedObjectModel {
    /// Creates a model from classes that are declared with `@StoredEntity`.
    ///
    /// ```swift
    /// let model = ManagedObjectModel("Contacts") {
    ///     ContactEntity.self
    ///     NoteEntity.self
    /// }
    /// let container = try await PersistentContainer(model: model, store: .sqlite(url))
    /// ```
    ///
    /// The model has the same hash as an equal `.xcdatamodeld`, so an app can switch from a bundle to classes, or back, and
    /// keep its stores. A class that inherits from another class of the model becomes a sub-entity of that class. Both classes
    /// must be listed. If a relationship names its inverse, the inverse need not name the relationship.
    ///
    /// This initializer does not throw for a mistake, such as a class without `@StoredEntity`. Instead, ``validate()`` throws
    /// the error, and so does opening a container.
    ///
    /// - Parameters:
    ///   - name: The name of the model. The command `model-reset` finds the model by this name.
    ///   - version: The name of the version; nil, the default, for the name of the model.
    ///   - configurations: Named subsets of the entities.
    ///   - fetchRequests: The fetch requests that are stored with the model.
    ///   - versionIdentifier: The author's own label for the version.
    ///   - earlierVersions: The names of entities and properties in earlier versions of the model. List a version only if a
    ///     migration cannot find its entities and properties by the names and renaming identifiers of this version.
    ///   - entities: The classes, in any order.
    public init(
        _ name: String, version: String? = nil, configurations: [EntityConfiguration] = [],
        fetchRequests: [FetchRequestTemplate] = [], versionIdentifier: String = "",
        earlierVersions: [EarlierVersion] = [],
        @EntityList entities: () -> [EntityList.Member]
    ) {
        var reading = ClassReading()
        for member in entities() {
            switch member.type {
            case .entity(let type): reading.add(type)
            case .composite(let type): reading.add([type])
            }
        }
        self.init(
            name: name, version: version, entities: reading.entities,
            composites: reading.composites.values.map(\.description),
            fetchRequests: fetchRequests, configurations: configurations, versionIdentifier: versionIdentifier,
            earlierVersions: earlierVersions, classes: reading.classes)
        classError = reading.classError
        guard classError == nil else { return }
        do { try completeInverses() } catch {
            classError = ClassError(entity: error.entityName, property: error.propertyName, error.message)
        }
    }

    /// A result builder for the list of a model's classes.
    @resultBuilder public enum EntityList {
        /// A class, or a struct with `@StoredComposite` that no class uses.
        public struct Member {
            enum Declared {
                case entity(ManagedObject.Type)
                case composite(any StoredCompositeValue.Type)
            }

            let type: Declared
        }

        /// Adds one class.
        public static func buildExpression(_ type: ManagedObject.Type) -> Member { Member(type: .entity(type)) }

        /// Adds a composite that no class uses. Composites that classes use need not be listed.
        public static func buildExpression(_ type: any StoredCompositeValue.Type) -> Member {
            Member(type: .composite(type))
        }

        /// Combines all members.
        public static func buildBlock(_ members: Member...) -> [Member] { members }
    }
}

/// Collects the declarations of a model's classes.
private struct ClassReading {
    var entities: [EntityDescription] = []
    var classes: [String: any AnyObject.Type] = [:]
    var composites: [String: (type: any StoredCompositeValue.Type, description: CompositeDescription)] = [:]
    var classError: ClassError?

    mutating func add(_ type: ManagedObject.Type) {
        guard let declared = DeclaredEntity.own(of: type) else {
            return record(
                "\(type)",
                "\(type) is listed in a model, but has no @StoredEntity. Add @StoredEntity to the class, or remove the class from the model."
            )
        }
        var entity = declared.entity
        if declared.superclass != ManagedObject.self {
            guard let parent = DeclaredEntity.own(of: declared.superclass) else {
                return record(
                    entity.name,
                    "\(type) inherits from \(declared.superclass), which has no @StoredEntity. Add @StoredEntity to that class, with isAbstract: true if the class has no objects."
                )
            }
            entity.parentName = parent.entity.name
        }
        entities.append(entity)
        classes[entity.name] = type
        add(declared.composites)
    }

    /// Adds composites, and the composites inside these composites.
    mutating func add(_ types: [any StoredCompositeValue.Type]) {
        var waiting = types
        while let next = waiting.popLast() {
            if let known = composites[next.compositeName] {
                guard known.type != next else { continue }
                return record(
                    next.compositeName,
                    "\(known.type) and \(next) are both the composite \(next.compositeName). Give one of the two another name."
                )
            }
            composites[next.compositeName] = (
                next, CompositeDescription(name: next.compositeName, attributes: next.attributes())
            )
            waiting += next.parts
        }
    }

    private mutating func record(_ entity: String, _ message: String) {
        classError = classError ?? ClassError(entity: entity, message)
    }
}

extension ManagedObjectModel {
    /// Checks that the properties of each class have the same indexes as in the model.
    ///
    /// - Throws: `unreadableModel`.
    func checkClasses() throws(DataSourceError) {
        for name in classes.keys.sorted() {
            guard let object = classes[name] as? ManagedObject.Type,
                let problem = DeclaredEntity.classProblem(of: object, in: self)
            else { continue }
            throw DataSourceError(.unreadableModel, problem, entityName: name)
        }
    }
}
