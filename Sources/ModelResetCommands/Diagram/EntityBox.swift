internal import ManagedModel

/// The box of an entity: the name, then a row for each attribute, then a row for each relationship.
struct EntityBox {
    struct Row {
        var name: String
        var detail: String
        /// Whether the property is part of a uniqueness constraint.
        var isUnique = false
        var isItalic = false
    }

    var entity: EntityDescription
    var attributes: [Row]
    var relationships: [Row]
    /// The index of the color. All entities of a hierarchy have the same color.
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
            Row(name: $0.name, detail: $0.words, isUnique: unique.contains($0.name), isItalic: $0.isTransient)
        }
        relationships = entity.relationships.map {
            Row(
                name: $0.name, detail: "\($0.destinationName) \($0.multiplicity)", isUnique: unique.contains($0.name),
                isItalic: $0.isTransient)
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

    /// The distance from the top of the box to the middle of a row.
    ///
    /// - Parameter index: The index of the relationship; nil for the entity's name.
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
    /// The possible numbers of destinations: `1`, `0…1`, `0…*` or `2…5`.
    fileprivate var multiplicity: String {
        guard isToMany else { return isOptional ? "0…1" : "1" }
        let fewest = isOptional ? 0 : max(1, minimumCount)
        return "\(fewest)…\(maximumCount > 0 ? String(maximumCount) : "*")" + (isOrdered ? " ordered" : "")
    }
}

/// The boxes of a model and the lines between them.
struct EntityGraph {
    /// One end of a line.
    struct End {
        var box: Int
        var row: Int?
        var mark = Mark.none

        /// Returns the distance from the top of the box to the end of the line. At the header of the box, a relationship's line
        /// ends 8 units below the middle, so that it does not cover inheritance lines.
        func offset(in box: EntityBox) -> Double {
            box.offset(ofRelationship: row) + (row == nil && mark != .none && mark != .parent ? 8 : 0)
        }
    }

    enum Mark {
        case none, one, many, parent
    }

    struct Line {
        var from: End
        var to: End
        var isInheritance = false
    }

    var boxes: [EntityBox]
    var lines: [Line] = []
    private let numbers: [String: Int]

    init(_ model: ManagedObjectModel) {
        let roots = model.entities.map { model.lineage(of: $0).last?.name ?? $0.name }
        let families = Dictionary(Set(roots).sorted().enumerated().map { ($1, $0) }) { first, _ in first }
        boxes = zip(model.entities, roots).map { EntityBox($0, color: families[$1] ?? 0) }
        numbers = Dictionary(model.entities.enumerated().map { ($1.name, $0) }) { first, _ in first }
        for (number, entity) in model.entities.enumerated() {
            if let parent = entity.parentName.flatMap({ numbers[$0] }) {
                lines.append(
                    Line(from: End(box: parent, mark: .parent), to: End(box: number), isInheritance: true))
            }
            for row in entity.relationships.indices { addLine(of: row, in: number) }
        }
    }

    /// Adds one line for a relationship and its inverse, with a mark at each end. Without an inverse, the line ends at the name
    /// of the destination.
    private mutating func addLine(of row: Int, in number: Int) {
        let relationship = boxes[number].entity.relationships[row]
        guard let destination = numbers[relationship.destinationName] else { return }
        let mark = relationship.isToMany ? Mark.many : .one
        guard let inverse = inverseRow(of: relationship, from: number, at: destination) else {
            lines.append(Line(from: End(box: number, row: row), to: End(box: destination, mark: mark)))
            return
        }
        // The line was already added for the inverse.
        if (destination, inverse) < (number, row) { return }
        let inverseMark = boxes[destination].entity.relationships[inverse].isToMany ? Mark.many : .one
        let from = End(box: number, row: row, mark: (destination, inverse) == (number, row) ? .none : inverseMark)
        lines.append(Line(from: from, to: End(box: destination, row: inverse, mark: mark)))
    }

    private func inverseRow(of relationship: RelationshipDescription, from number: Int, at destination: Int) -> Int? {
        let name = boxes[number].entity.name
        return boxes[destination].entity.relationships.firstIndex {
            $0.name == relationship.inverseName && $0.destinationName == name && $0.inverseName == relationship.name
        }
    }

    /// The numbers of the boxes, divided into groups of connected boxes. The groups and the numbers in each group are sorted.
    var groups: [[Int]] {
        var group = Array(boxes.indices)
        func find(_ box: Int) -> Int {
            var box = box
            while group[box] != box { box = group[box] }
            return box
        }
        for line in lines {
            let fromRoot = find(line.from.box)
            let toRoot = find(line.to.box)
            group[max(fromRoot, toRoot)] = min(fromRoot, toRoot)
        }
        return Dictionary(grouping: boxes.indices, by: find).sorted { $0.key < $1.key }.map(\.value)
    }
}
