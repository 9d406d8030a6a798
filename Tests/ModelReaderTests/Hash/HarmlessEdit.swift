import ManagedModel

/// An edit of a model file after which every row is stored as before.
struct HarmlessEdit: Sendable {
    var words: String
    var apply: @Sendable (Markup, inout SplitMix) -> Void

    static let all = wholeFile + entities + attributes + relationships

    private static let wholeFile = [
        HarmlessEdit(words: "elements reordered") { root, random in
            for element in root.all { element.children.shuffle(using: &random) }
        },
        HarmlessEdit(words: "saved by another tool") { root, random in
            root["lastSavedToolsVersion"] = "\(random.next() % 30_000)"
            root["systemVersion"] = "24G\(random.next() % 999)"
            root["userDefinedModelVersionIdentifier"] = "\(random.next())"
            root["sourceLanguage"] = ["Swift", "Objective-C"].randomElement(using: &random)
        },
        HarmlessEdit(words: "diagram laid out") { root, random in
            root.children.removeAll { $0.name == "elements" }
            guard Bool.random(using: &random) else { return }
            let places = root.children(named: "entity").map {
                Markup("element", ["name": $0["name"] ?? "", "positionX": "\(random.next() % 500)", "width": "128"])
            }
            root.children.append(Markup("elements", [:], places))
        },
        HarmlessEdit(words: "fetch requests and configurations changed") { root, random in
            root.children.removeAll { ["fetchRequest", "configuration"].contains($0.name) }
            guard let name = root.children(named: "entity").randomElement(using: &random)?["name"] else { return }
            root.children.append(Markup("fetchRequest", ["name": "added request", "entity": name]))
            root.children.append(Markup("configuration", ["name": "added"], [Markup("memberEntity", ["name": name])]))
        },
        HarmlessEdit(words: "user info") { root, random in
            let owners = root.all.filter { ["entity", "attribute", "relationship"].contains($0.name) }
            let entry = Markup("entry", ["key": "added", "value": "\"\(random.next())\" <&>\n"])
            owners.randomElement(using: &random)?.children.append(Markup("userInfo", [:], [entry]))
        },
    ]

    private static let entities = [
        on("entity", "class") { entity, random in
            entity["representedClassName"] = ["Other\(random.next() % 9)", ".Other", "A.B", nil].randomElement(
                using: &random)?.flatMap { $0 }
            entity["codeGenerationType"] = ["class", "category", nil].randomElement(using: &random)?.flatMap { $0 }
            entity["elementID"] = "Old\(random.next() % 9)"
            entity["syncable"] = Bool.random(using: &random) ? "YES" : "NO"
        },
        on("entity", "indexes removed") { entity, _ in
            entity.children.removeAll { ["fetchIndex", "compoundIndexes"].contains($0.name) }
        },
        on("entity", "index added") { entity, random in
            let names = entity.children(named: "attribute").compactMap { $0["name"] }
            guard let name = names.randomElement(using: &random) else { return }
            let element = Markup("fetchIndexElement", ["property": name, "type": "Binary", "order": "descending"])
            entity.children.append(Markup("fetchIndex", ["name": "added \(random.next())"], [element]))
        },
        on("entity", "transient attribute added") { entity, random in
            let attributes = ["name": "added\(random.next())", "attributeType": "String", "transient": "YES"]
            entity.children.append(Markup("attribute", attributes))
        },
        on("entity", "fetched properties removed") { entity, _ in
            entity.children.removeAll { $0.name == "fetchedProperty" }
        },
    ]

    private static let attributes = [
        on("attribute", "default value") { attribute, random in
            attribute["defaultDateTimeInterval"] = nil
            attribute["defaultValueString"] = ["0", "1", "YES", "", "odd", nil].randomElement(using: &random)?
                .flatMap { $0 }
        },
        on("attribute", "bounds") { attribute, random in
            attribute["minValueString"] = ["0", "-1", "odd", nil].randomElement(using: &random)?.flatMap { $0 }
            attribute["maxValueString"] = ["9", "99999999999999999999", nil].randomElement(using: &random)?
                .flatMap { $0 }
            attribute["regularExpressionString"] = "[a-z]{\(random.next() % 9)}"
        },
        on("attribute", "how Swift sees it") { attribute, random in
            attribute["usesScalarValueType"] = Bool.random(using: &random) ? "YES" : "NO"
            attribute["customClassName"] = "Other\(random.next() % 9)"
            attribute["valueTransformerName"] = "Transformer"
            attribute["elementID"] = "old\(random.next() % 9)"
        },
        on("attribute", "how it is kept") { attribute, random in
            for flag in ["indexed", "spotlightIndexingEnabled", "allowsExternalBinaryDataStorage", "syncable"] {
                attribute[flag] = Bool.random(using: &random) ? "YES" : "NO"
            }
        },
        on("attribute", "optionality spelled out", spellOut),
    ]

    private static let relationships = [
        on("relationship", "delete rule") { relationship, random in
            let rules = ["Nullify", "Cascade", "Deny", "No Action", nil]
            relationship["deletionRule"] = rules.randomElement(using: &random)?.flatMap { $0 }
        },
        on("relationship", "counts of a to-one") { relationship, random in
            guard !relationship.flag("toMany") else { return }
            relationship["minCount"] = Bool.random(using: &random) ? "1" : nil
            relationship["maxCount"] = Bool.random(using: &random) ? "1" : nil
        },
        on("relationship", "optionality spelled out", spellOut),
    ]

    /// What is absent is NO.
    @Sendable private static func spellOut(_ element: Markup, _ random: inout SplitMix) {
        for flag in ["optional", "transient"] where !element.flag(flag) {
            element[flag] = Bool.random(using: &random) ? "NO" : nil
        }
    }

    private static func on(
        _ name: String, _ words: String, _ apply: @escaping @Sendable (Markup, inout SplitMix) -> Void
    ) -> HarmlessEdit {
        HarmlessEdit(words: "\(name): \(words)") { root, random in
            guard let element = root.all.filter({ $0.name == name }).randomElement(using: &random) else { return }
            apply(element, &random)
        }
    }
}
