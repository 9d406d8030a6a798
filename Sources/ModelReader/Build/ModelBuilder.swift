internal import ManagedModel

/// Converts a tree of elements to the declarations of a model. ``ModelLinker`` then resolves references to other entities.
struct ModelBuilder {
    let file: String
    var log: DiagnosticLog
    var lines = SourceLines()
    var inverseEntities: [PropertyPath: String] = [:]

    static let documentType = "com.apple.IDECoreDataModeler.DataModel"
    static let entityLimit = 10_000

    init(file: String) {
        self.file = file
        log = DiagnosticLog(file: file)
    }

    mutating func unlinkedModel(
        of root: MarkupElement, name: String, version: String
    ) throws(ModelReaderError) -> UnlinkedModel {
        try check(root)
        recordUnknown(in: root)
        var entities: [EntityDescription] = []
        for element in root.children(named: "entity") { entities.append(try entity(element)) }
        var composites: [CompositeDescription] = []
        for element in root.children(named: "composite") { composites.append(try composite(element)) }
        var fetchRequests: [FetchRequestTemplate] = []
        for element in root.children(named: "fetchRequest") {
            let request = try fetchRequest(element)
            lines.record(element.line, ofFetchRequest: request.name)
            let place = "The fetch request \(request.name)"
            if !flag("includesPendingChanges", of: element, defaultValue: true) {
                record(.pendingChanges, "includesPendingChanges=\"NO\"", at: place, element)
            }
            if flag("returnDistinctResults", of: element) {
                record(.distinctResults, "returnDistinctResults=\"YES\"", at: place, element)
            }
            fetchRequests.append(request)
        }
        var configurations: [EntityConfiguration] = []
        for element in root.children(named: "configuration") { configurations.append(try configuration(element)) }
        let model = ManagedObjectModel(
            name: name, version: version, entities: entities, composites: composites, fetchRequests: fetchRequests,
            configurations: configurations, versionIdentifier: root["userDefinedModelVersionIdentifier"] ?? "")
        return UnlinkedModel(model: model, log: log, lines: lines, inverseEntities: inverseEntities)
    }

    private mutating func check(_ root: MarkupElement) throws(ModelReaderError) {
        let type = root["type"]
        guard root.name == "model", type == nil || type == Self.documentType else {
            throw ModelReaderError(
                .notAModel, file: file, line: root.line,
                "This is not a data model: the file starts with <\(root.name)>\(type.map { " of type \($0)" } ?? "").")
        }
        recordCloudKit(of: root, at: "The model")
        if type == nil { log.warn(root.line, "The model does not say its type; \(Self.documentType) is assumed.") }
        guard root.children(named: "entity").count <= Self.entityLimit else {
            throw ModelReaderError(
                .tooLarge, file: file, "The model has more than \(Self.entityLimit) entities. Split the model.")
        }
    }

    /// The recursion is safe, because ``MarkupScan`` limits the depth of elements.
    private mutating func recordUnknown(in element: MarkupElement) {
        let known = Vocabulary.attributes(of: element.name)
        for attribute in element.attributes.keys.sorted() where !known.contains(attribute) {
            log.warn(element.line, "The attribute \(attribute) of <\(element.name)> is unknown, and is ignored.")
        }
        let knownChildren = Vocabulary.children(of: element.name)
        for child in element.children where child.name != Vocabulary.layout {
            guard knownChildren.contains(child.name) else {
                log.warn(child.line, "<\(child.name)> in <\(element.name)> is unknown, and is ignored.")
                continue
            }
            recordUnknown(in: child)
        }
    }

    private mutating func composite(_ element: MarkupElement) throws(ModelReaderError) -> CompositeDescription {
        let name = try required("name", of: element)
        lines.record(element.line, of: name)
        // The hash includes the attributes of a composite, but not the composite itself, so these two values have no
        // effect.
        for attribute in ["versionHashModifier", "elementID"] where element.nonEmptyValue(attribute) != nil {
            record(.compositeIdentity, attribute, at: "The composite \(name)", element)
        }
        var attributes: [AttributeDescription] = []
        for child in element.children(named: "attribute") { attributes.append(try attribute(child, in: name)) }
        return CompositeDescription(name: name, attributes: attributes)
    }

    private mutating func configuration(_ element: MarkupElement) throws(ModelReaderError) -> EntityConfiguration {
        let name = try required("name", of: element)
        recordCloudKit(of: element, at: "The configuration \(name)")
        var members: [String] = []
        for child in element.children(named: "memberEntity") { members.append(try required("name", of: child)) }
        return EntityConfiguration(name: name, entityNames: members)
    }

    private mutating func recordCloudKit(of element: MarkupElement, at location: String) {
        if flag("usedWithCloudKit", of: element) { record(.cloudKit, "usedWithCloudKit", at: location, element) }
    }

    /// Warns of an unsupported declaration, if the model does not keep the declaration. If the model keeps the declaration,
    /// ``ModelLinker`` warns.
    mutating func record(
        _ declaration: UnsupportedDeclaration, _ words: String, at location: String, _ element: MarkupElement
    ) {
        log.warn(element.line, declaration.warning("\(words) is ignored", at: location))
    }
}

/// A model with unresolved names, and with the line numbers for its errors.
struct UnlinkedModel {
    var model: ManagedObjectModel
    var log: DiagnosticLog
    var lines = SourceLines()
    /// The `inverseEntity` of each relationship in the file.
    var inverseEntities: [PropertyPath: String] = [:]
}

/// The path of a property in an entity or a composite.
struct PropertyPath: Hashable {
    var owner: String
    var property: String
}

/// The lines on which entities, composites, properties and fetch requests are declared.
struct SourceLines {
    private var owners: [String: Int] = [:]
    private var properties: [PropertyPath: Int] = [:]
    private var fetchRequests: [String: Int] = [:]

    mutating func record(_ line: Int, of owner: String) {
        owners[owner] = line
    }

    mutating func record(_ line: Int, of property: String, in owner: String) {
        properties[PropertyPath(owner: owner, property: property)] = line
    }

    mutating func record(_ line: Int, ofFetchRequest name: String) {
        fetchRequests[name] = line
    }

    func line(ofFetchRequest name: String) -> Int? { fetchRequests[name] }

    /// Returns the line of the property. If the property is unknown, returns the line of the owner.
    func line(of property: String?, in owner: String?) -> Int? {
        guard let owner else { return nil }
        return property.flatMap { properties[PropertyPath(owner: owner, property: $0)] } ?? owners[owner]
    }
}

/// Reads the values of attributes for all kinds of elements.
extension ModelBuilder {
    func required(_ attribute: String, of element: MarkupElement) throws(ModelReaderError) -> String {
        guard let text = element.nonEmptyValue(attribute) else {
            throw ModelReaderError(
                .missingName, file: file, line: element.line,
                "<\(element.name)> has no \(attribute). Add the attribute, or remove the element.")
        }
        return text
    }

    mutating func flag(_ attribute: String, of element: MarkupElement, defaultValue: Bool = false) -> Bool {
        guard let text = element[attribute] else { return defaultValue }
        if let flag = NumberParser.flag(text) { return flag }
        log.warn(element.line, "\(attribute)=\"\(text)\" is neither YES nor NO, and is ignored.")
        return defaultValue
    }

    /// Returns the default value if the word in the file is unknown.
    ///
    /// - Parameter consequence: The rest of the warning about an unknown word.
    mutating func choice<Value: RawRepresentable>(
        _ attribute: String, of element: MarkupElement, defaultValue: Value, _ consequence: String
    ) -> Value where Value.RawValue: LosslessStringConvertible {
        guard let word = element.nonEmptyValue(attribute) else { return defaultValue }
        if let value = Value.RawValue(word).flatMap(Value.init) { return value }
        log.warn(element.line, "\(attribute)=\"\(word)\" is unknown. \(consequence)")
        return defaultValue
    }

    /// An invalid count is an error, because counts affect which objects are stored and fetched.
    func count(
        _ attribute: String, of element: MarkupElement, from lowest: Int = 0
    ) throws(ModelReaderError) -> Int? {
        guard let text = element[attribute] else { return nil }
        guard let count = Int(text), count >= lowest else {
            throw ModelReaderError(
                .badNumber, file: file, line: element.line,
                "\(attribute)=\"\(text)\" of <\(element.name)> is not a count. Use a whole number of at least \(lowest)."
            )
        }
        return count
    }

    mutating func userInfo(of element: MarkupElement) -> [String: String] {
        var userInfo: [String: String] = [:]
        for entry in element.children(named: "userInfo").flatMap({ $0.children(named: "entry") }) {
            guard let key = entry["key"] else {
                log.warn(entry.line, "An entry of the user info without a key is ignored.")
                continue
            }
            if userInfo.updateValue(entry["value"] ?? "", forKey: key) != nil {
                log.warn(entry.line, "The user info has the key \(key) twice. The last value counts.")
            }
        }
        return userInfo
    }
}
