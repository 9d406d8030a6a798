import ManagedModel

extension ModelChange {
    /// Every kind of change to what is stored.
    static let persisted: [ModelChange] = entityChanges + attributeChanges + relationshipChanges

    private static let entityChanges: [ModelChange] = [
        ModelChange("entity added") { $0.entities.append(EntityDescription(name: "Shop")) },
        ModelChange("entity removed") { model in
            model.entities.removeAll { $0.name == "Author" }
            model.entities[0].relationships = []
        },
        ModelChange("parent removed", in: "Book") { $0.parentName = nil },
        ModelChange("parent changed", in: "Author") { $0.parentName = "Item" },
        ModelChange("made concrete", in: "Item") { $0.isAbstract = false },
        ModelChange("entity modifier changed", in: "Book") { $0.versionHashModifier = "2" },
        ModelChange("constraint added", in: "Author") { $0.uniquenessConstraints = [["name"]] },
        ModelChange("constraint removed", in: "Item") { $0.uniquenessConstraints = [] },
        ModelChange("constraint widened", in: "Book") { $0.uniquenessConstraints = [["title", "pages"]] },
        ModelChange("composite's leaf added") {
            $0.composites[0].attributes.append(AttributeDescription(name: "row", type: .integer16))
        },
        ModelChange("composite's leaf retyped") { $0.composites[0].attributes[0].type = .integer64 },
        ModelChange("composite made required", in: "Item") { $0.attribute("place") { $0.isOptional = false } },
    ]

    private static let attributeChanges: [ModelChange] = [
        ModelChange("attribute added", in: "Book") {
            $0.attributes.append(AttributeDescription(name: "isbn", type: .string))
        },
        ModelChange("attribute removed", in: "Book") { $0.attributes.removeFirst() },
        ModelChange("attribute renamed", in: "Book") { $0.attribute("title") { $0.name = "heading" } },
        ModelChange("attribute retyped", in: "Book") { $0.attribute("pages") { $0.type = .integer64 } },
        ModelChange("attribute made required", in: "Book") { $0.attribute("title") { $0.isOptional = false } },
        ModelChange("attribute made transient", in: "Book") { $0.attribute("title") { $0.isTransient = true } },
        ModelChange("transient made persistent", in: "Book") { $0.attribute("isOpen") { $0.isTransient = false } },
        ModelChange("derivation changed", in: "Book") {
            $0.attribute("authorName") { $0.derivationExpression = "lowercase:(author.name)" }
        },
        ModelChange("attribute modifier added", in: "Book") { $0.attribute("title") { $0.versionHashModifier = "a" } },
    ]

    private static let relationshipChanges: [ModelChange] = [
        ModelChange("relationship removed", in: "Book") { $0.relationships = [] },
        ModelChange("relationship renamed", in: "Book") { $0.relationship("author") { $0.name = "writer" } },
        ModelChange("destination changed", in: "Book") { $0.relationship("author") { $0.destinationName = "Item" } },
        ModelChange("inverse removed", in: "Book") { $0.relationship("author") { $0.inverseName = nil } },
        ModelChange("made to-many", in: "Book") { $0.relationship("author") { $0.isToMany = true } },
        ModelChange("made unordered", in: "Author") { $0.relationship("books") { $0.isOrdered = false } },
        ModelChange("relationship made required", in: "Author") { $0.relationship("books") { $0.isOptional = false } },
        ModelChange("minimum raised", in: "Author") { $0.relationship("books") { $0.minimumCount = 2 } },
        ModelChange("maximum lowered", in: "Author") { $0.relationship("books") { $0.maximumCount = 50 } },
        ModelChange("relationship made transient", in: "Book") { $0.relationship("author") { $0.isTransient = true } },
        ModelChange("relationship modifier added", in: "Book") {
            $0.relationship("author") { $0.versionHashModifier = "a" }
        },
    ]

    /// Every kind of change that leaves the store as it is.
    static let unpersisted: [ModelChange] = [
        ModelChange("model renamed") { $0.name = "Archive" },
        ModelChange("version identifier") { $0.versionIdentifier = "2.0" },
        ModelChange("order of entities") { $0.entities.reverse() },
        ModelChange("order of composites' leaves") { $0.composites[0].attributes.reverse() },
        ModelChange("order of attributes", in: "Book") { $0.attributes.reverse() },
        ModelChange("order of a constraint", in: "Item") { $0.uniquenessConstraints = [["uid"], ["uid"]] },
        ModelChange("class name", in: "Book") { $0.className = "Other.Book" },
        ModelChange("renaming identifier", in: "Book") { $0.renamingIdentifier = "Volume" },
        ModelChange("code generation", in: "Book") { $0.codeGeneration = .class },
        ModelChange("index removed", in: "Book") { $0.indexes = [] },
        ModelChange("user info", in: "Book") { $0.userInfo = ["key": "value"] },
        ModelChange("type in Swift", in: "Book") { $0.attribute("pages") { $0.userInfo = ["swiftType": "Int"] } },
        ModelChange("transient removed", in: "Book") { $0.attributes.removeLast() },
        ModelChange("default value", in: "Book") { $0.attribute("title") { $0.defaultValue = nil } },
        ModelChange("bound", in: "Book") { $0.attribute("pages") { $0.maximum = .integer(10) } },
        ModelChange("pattern", in: "Book") { $0.attribute("title") { $0.pattern = "[A-Z].*" } },
        ModelChange("scalar", in: "Book") { $0.attribute("pages") { $0.usesScalarValueType = true } },
        ModelChange("legacy index flag", in: "Book") { $0.attribute("title") { $0.isIndexed = true } },
        ModelChange("value transformer", in: "Book") { $0.attribute("title") { $0.valueTransformerName = "T" } },
        ModelChange("delete rule", in: "Book") { $0.relationship("author") { $0.deleteRule = .cascade } },
        ModelChange("to-one count", in: "Book") { $0.relationship("author") { $0.minimumCount = 1 } },
        ModelChange("composite's name") { model in
            model.composites[0].name = "Location"
            for index in model.entities.indices {
                model.entities[index].attribute("place") { $0.compositeName = "Location" }
            }
        },
        ModelChange("fetched property", in: "Book") {
            $0.fetchedProperties = [.init(name: "all", fetchRequest: .init(name: "all", entityName: "Book"))]
        },
    ]
}
