internal import ManagedModel

/// An entity as a box: its name, then a row for each attribute, then one for each relationship.
struct EntityBox {
    struct Row {
        var name: String
        var detail: String
        /// Whether it is part of a uniqueness constraint.
        var isUnique = false
        var isFaint = false
    }

    var entity: EntityDescription
    var attributes: [Row]
    var relationships: [Row]
    /// The index of its colour; entities that inherit from each other share one.
    var color: Int

    static let headerHeight = 30.0
    static let rowHeight = 18.0
    static let dividerHeight = 8.0
    static let padding = 10.0
    static let fontSize = 12.0
    static let titleSize = 13.0

    init(_ entity: EntityDescription, color: Int) {
        let unique = Set(entity.uniquenessConstraints.joined())
        self.entity = entity
        self.color = color
        attributes = entity.attributes.map {
            Row(name: $0.name, detail: $0.words, isUnique: unique.contains($0.name), isFaint: $0.isTransient)
        }
        relationships = entity.relationships.map {
            Row(
                name: $0.name, detail: "\($0.destinationName) \($0.arity)", isUnique: unique.contains($0.name),
                isFaint: $0.isTransient)
        }
    }

    var width: Double {
        let title = entity.name.width(size: Self.titleSize) * 1.08 + (subtitle.map { $0.width(size: 10) + 12 } ?? 0)
        let rows = (attributes + relationships).map { row in
            row.name.width(size: Self.fontSize) * (row.isUnique ? 1.08 : 1) + 20 + row.detail.width(size: Self.fontSize)
        }
        return max(130, title, rows.max() ?? 0) + 2 * Self.padding
    }

    var height: Double {
        let divider = attributes.isEmpty || relationships.isEmpty ? 0 : Self.dividerHeight
        let rowCount = max(1, attributes.count + relationships.count)
        return Self.headerHeight + Double(rowCount) * Self.rowHeight + divider + 8
    }

    var subtitle: String? { entity.isAbstract ? "abstract" : nil }

    /// The distance from the top of the box to the middle of a row; nil for the name.
    func offset(ofRelationship index: Int?) -> Double {
        guard let index else { return Self.headerHeight / 2 }
        let divider = attributes.isEmpty ? 0 : Self.dividerHeight
        return offset(ofAttribute: attributes.count + index) + divider
    }

    func offset(ofAttribute index: Int) -> Double {
        Self.headerHeight + 4 + (Double(index) + 0.5) * Self.rowHeight
    }
}

extension AttributeDescription {
    fileprivate var words: String {
        let type = compositeName ?? (self.type == .undefined ? "no type" : self.type.rawValue)
        let kind = derivationExpression != nil ? "derived " : isTransient ? "transient " : ""
        return kind + type + (isOptional ? "?" : "")
    }
}

extension RelationshipDescription {
    /// The possible number of destinations: `1`, `0…1`, `0…*`, `2…5`.
    fileprivate var arity: String {
        guard isToMany else { return isOptional ? "0…1" : "1" }
        let fewest = isOptional ? 0 : max(1, minimumCount)
        return "\(fewest)…\(maximumCount > 0 ? String(maximumCount) : "*")" + (isOrdered ? " ordered" : "")
    }
}
