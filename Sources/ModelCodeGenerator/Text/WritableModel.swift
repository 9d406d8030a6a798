internal import ManagedModel

/// A model without the parts that Swift files cannot contain, and the list of these parts.
struct WritableModel {
    private(set) var model: ManagedObjectModel
    /// The parts that were removed, each described in one sentence.
    private(set) var losses: [String] = []

    init(_ model: ManagedObjectModel) {
        self.model = model
        declareClasses()
        removeEmptyComposites()
        for index in self.model.entities.indices {
            let entity = self.model.entities[index]
            let attributes = entity.attributes.map { writable($0, of: entity.name) }
            self.model.entities[index].attributes = attributes
        }
        for index in self.model.composites.indices {
            let composite = self.model.composites[index]
            let attributes = composite.attributes.map { writable($0, of: composite.name, isPart: true) }
            self.model.composites[index].attributes = attributes
        }
    }

    /// Gives each entity a generated class, because Swift files always declare the classes.
    private mutating func declareClasses() {
        let others = model.entities.filter { $0.codeGeneration != .class }.map(\.name)
        for index in model.entities.indices { model.entities[index].codeGeneration = .class }
        guard !others.isEmpty else { return }
        let owners = others.count == model.entities.count ? "all entities" : others.joined(separator: ", ")
        losses.append(
            "The files declare the classes of \(owners), which codeGenerationType leaves to the app. If the app has classes of its own for them, move the other members of these classes to the files, and remove the classes."
        )
    }

    private mutating func writable(
        _ attribute: AttributeDescription, of owner: String, isPart: Bool = false
    ) -> AttributeDescription {
        var attribute = attribute
        let name = "\(owner).\(attribute.name)"
        if attribute.derivationExpression != nil, attribute.defaultValue != nil {
            attribute.defaultValue = nil
            losses.append("The default value of \(name) is left out: a derived attribute has no default value.")
        }
        if attribute.isIndexed, isPart || attribute.isTransient || attribute.type == .composite {
            attribute.isIndexed = false
            let owner = isPart ? "a part of a composite" : "an attribute without a column of its own"
            losses.append("The index of \(name) is left out: \(owner) has no index.")
        }
        if attribute.pattern != nil, attribute.type != .string {
            attribute.pattern = nil
            losses.append("The pattern of \(name) is left out: only strings match a pattern.")
        }
        if let minimum = attribute.minimum, let maximum = attribute.maximum, minimum.isGreater(than: maximum) {
            (attribute.minimum, attribute.maximum) = (nil, nil)
            losses.append("The bounds of \(name) are left out: no value is between them.")
        }
        return attribute
    }

    /// Removes composites without attributes, and the attributes that use such composites. These attributes have no columns.
    private mutating func removeEmptyComposites() {
        while let index = model.composites.firstIndex(where: \.attributes.isEmpty) {
            let name = model.composites.remove(at: index).name
            losses.append("The composite \(name) is left out: it has no attributes.")
            for index in model.entities.indices {
                let entity = model.entities[index]
                let attributes = without(name, entity.attributes, of: entity.name)
                model.entities[index].attributes = attributes
            }
            for index in model.composites.indices {
                let composite = model.composites[index]
                let attributes = without(name, composite.attributes, of: composite.name)
                model.composites[index].attributes = attributes
            }
        }
    }

    private mutating func without(
        _ composite: String, _ attributes: [AttributeDescription], of owner: String
    ) -> [AttributeDescription] {
        let removed = attributes.filter { $0.type == .composite && $0.compositeName == composite }
        losses += removed.map { "\(owner).\($0.name) is left out: its composite \(composite) has no attributes." }
        return removed.isEmpty ? attributes : attributes.filter { !removed.contains($0) }
    }
}

extension AttributeValue {
    /// Whether this bound is greater than another bound of the same attribute.
    fileprivate func isGreater(than other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.integer(let first), .integer(let second)): first > second
        case (.double(let first), .double(let second)), (.date(let first), .date(let second)): first > second
        case (.decimal(let first), .decimal(let second)): first > second
        default: false
        }
    }
}

extension RelationshipDescription {
    /// Whether any number of objects satisfies both the minimum and the maximum count. If not, the counts cannot be
    /// written as a range in Swift.
    var hasPossibleCount: Bool { !isToMany || maximumCount <= 0 || minimumCount <= maximumCount }
}
