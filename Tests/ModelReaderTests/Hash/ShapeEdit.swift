import ManagedModel

/// An edit of a model file after which some row is stored differently. It leaves the file one that can be read.
struct ShapeEdit: Sendable {
    var words: String
    /// False if there is nothing in the file to edit like that.
    var apply: @Sendable (Markup, inout SplitMix) -> Bool

    static let all = entities + attributes + relationships

    private static let entities = [
        ShapeEdit(words: "entity added") { root, _ in
            root.children.append(Markup("entity", ["name": "Added entity"]))
            return true
        },
        ShapeEdit(words: "entity given a parent") { root, random in
            let roots = root.children(named: "entity").filter { $0["parentEntity"] == nil }
            guard let entity = roots.randomElement(using: &random) else { return false }
            entity["parentEntity"] = "Added parent"
            root.children.append(Markup("entity", ["name": "Added parent"]))
            return true
        },
        ShapeEdit(words: "entity renamed") { root, random in
            guard let entity = root.children(named: "entity").randomElement(using: &random) else { return false }
            let name = entity["name"]
            entity["name"] = "Renamed entity"
            for element in root.all {
                for reference in ["parentEntity", "destinationEntity", "inverseEntity", "entity"]
                where element[reference] == name { element[reference] = "Renamed entity" }
            }
            return true
        },
        on("entity", "made abstract or concrete") { entity, _ in entity.toggle("isAbstract") },
        on("entity", "modifier") { entity, _ in entity["versionHashModifier", default: ""] += "+" },
        on("entity", "attribute added") { entity, _ in
            entity.children.append(Markup("attribute", ["name": "added attribute", "attributeType": "String"]))
        },
        on("entity", "constraint added") { entity, _ in
            let constraint = Markup("uniquenessConstraint", [:], [Markup("constraint", ["value": "added attribute"])])
            entity.children.append(Markup("attribute", ["name": "added attribute", "attributeType": "Date"]))
            entity.children.append(Markup("uniquenessConstraints", [:], [constraint]))
        },
    ]

    private static let attributes = [
        on("attribute", "type") { attribute, random in
            let types = ["Integer 16", "Integer 64", "String", "Double", "Decimal", "Date", "Binary", "UUID"]
            attribute["attributeType"] =
                types.filter { $0 != attribute["attributeType"] }.randomElement(using: &random)
        },
        on("attribute", "optionality") { attribute, _ in attribute.toggle("optional") },
        on("attribute", "made transient") { attribute, _ in attribute.toggle("transient") },
        on("attribute", "renamed") { attribute, _ in attribute["name", default: ""] += " renamed" },
        on("attribute", "modifier") { attribute, _ in attribute["versionHashModifier", default: ""] += "+" },
        on("attribute", "derivation") { attribute, _ in
            attribute["derivationExpression"] = attribute.flag("derived") ? "others.@count" : "things.@count"
            attribute["derived"] = "YES"
        },
        removal(of: "attribute"),
    ]

    private static let relationships = [
        on("relationship", "arity") { relationship, _ in relationship.toggle("toMany") },
        on("relationship", "optionality") { relationship, _ in relationship.toggle("optional") },
        on("relationship", "made transient") { relationship, _ in relationship.toggle("transient") },
        on("relationship", "renamed") { relationship, _ in relationship["name", default: ""] += " renamed" },
        on("relationship", "modifier") { relationship, _ in relationship["versionHashModifier", default: ""] += "+" },
        on("to-many", "order") { relationship, _ in relationship.toggle("ordered") },
        on("to-many", "minimum") { $0["minCount"] = "\((Int($0["minCount"] ?? "") ?? 0) + 1 + Int($1.next() % 9))" },
        on("to-many", "maximum") { $0["maxCount"] = "\((Int($0["maxCount"] ?? "") ?? 0) + 2 + Int($1.next() % 9))" },
        ShapeEdit(words: "relationship: destination") { root, random in
            guard let relationship = root.editable("relationship").randomElement(using: &random) else { return false }
            root.children.append(Markup("entity", ["name": "Added destination"]))
            relationship["destinationEntity"] = "Added destination"
            return true
        },
        removal(of: "relationship"),
    ]

    private static func removal(of name: String) -> ShapeEdit {
        ShapeEdit(words: "\(name) removed") { root, random in
            guard let element = root.editable(name).randomElement(using: &random) else { return false }
            for entity in root.children { entity.children.removeAll { $0 === element } }
            return true
        }
    }

    private static func on(
        _ kind: String, _ words: String, _ apply: @escaping @Sendable (Markup, inout SplitMix) -> Void
    ) -> ShapeEdit {
        ShapeEdit(words: "\(kind): \(words)") { root, random in
            guard let element = root.editable(kind).randomElement(using: &random) else { return false }
            apply(element, &random)
            return true
        }
    }
}

extension Markup {
    /// The entities, or the properties of a kind that are stored as they are written and that no constraint names.
    fileprivate func editable(_ kind: String) -> [Markup] {
        let entities = children(named: "entity")
        if kind == "entity" { return entities }
        let constrained = Set(all.filter { $0.name == "constraint" }.compactMap { $0["value"] })
        let properties = entities.flatMap(\.children).filter { element in
            !element.flag("transient") && element["name"].map { !constrained.contains($0) } ?? false
        }
        switch kind {
        case "attribute":
            let untyped = ["Undefined", "Composite", "", nil]
            return properties.filter { $0.name == kind && !untyped.contains($0["attributeType"]) }
        case "to-many": return properties.filter { $0.name == "relationship" && $0.flag("toMany") }
        default: return properties.filter { $0.name == kind }
        }
    }

    fileprivate func toggle(_ attribute: String) {
        self[attribute] = flag(attribute) ? "NO" : "YES"
    }

    fileprivate subscript(_ attribute: String, default text: String) -> String {
        get { attributes[attribute] ?? text }
        set { attributes[attribute] = newValue }
    }
}
