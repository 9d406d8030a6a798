internal import ManagedModel

/// Turns a tree of elements into the declarations of a model. Names of other entities are not resolved yet.
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

    mutating func draft(
        of root: MarkupElement, name: String, version: String
    ) throws(ModelReaderError) -> ModelDraft {
        try check(root)
        noteUnknown(in: root)
        var entities: [EntityDescription] = []
        for element in root.children(named: "entity") { entities.append(try entity(element)) }
        var composites: [CompositeDescription] = []
        for element in root.children(named: "composite") { composites.append(try composite(element)) }
        var fetchRequests: [FetchRequestTemplate] = []
        for element in root.children(named: "fetchRequest") { fetchRequests.append(try fetchRequest(element)) }
        var configurations: [ModelConfiguration] = []
        for element in root.children(named: "configuration") { configurations.append(try configuration(element)) }
        let model = ManagedObjectModel(
            name: name, version: version, entities: entities, composites: composites, fetchRequests: fetchRequests,
            configurations: configurations, versionIdentifier: root["userDefinedModelVersionIdentifier"] ?? "")
        return ModelDraft(model: model, log: log, lines: lines, inverseEntities: inverseEntities)
    }

    private mutating func check(_ root: MarkupElement) throws(ModelReaderError) {
        let type = root["type"]
        guard root.name == "model", type == nil || type == Self.documentType else {
            throw ModelReaderError(
                .notAModel, file: file, line: root.line,
                "This is not a data model: it starts with <\(root.name)>\(type.map { " of type \($0)" } ?? "").")
        }
        if type == nil { log.warn(root.line, "The model does not say its type; \(Self.documentType) is assumed.") }
        guard root.children(named: "entity").count <= Self.entityLimit else {
            throw ModelReaderError(.tooLarge, file: file, "The model has more than \(Self.entityLimit) entities.")
        }
    }

    /// The scan has limited the depth.
    private mutating func noteUnknown(in element: MarkupElement) {
        let known = Vocabulary.attributes(of: element.name)
        for attribute in element.attributes.keys.sorted() where !known.contains(attribute) {
            log.warn(element.line, "The attribute \(attribute) of <\(element.name)> is unknown. It is ignored.")
        }
        let knownChildren = Vocabulary.children(of: element.name)
        for child in element.children where child.name != Vocabulary.layout {
            guard knownChildren.contains(child.name) else {
                log.warn(child.line, "<\(child.name)> in <\(element.name)> is unknown. It is ignored.")
                continue
            }
            noteUnknown(in: child)
        }
    }

    private mutating func composite(_ element: MarkupElement) throws(ModelReaderError) -> CompositeDescription {
        let name = try required("name", of: element)
        lines.note(element.line, of: name)
        // A composite has no hash of its own: its attributes have one each.
        for attribute in ["versionHashModifier", "elementID"] where element.filled(attribute) != nil {
            log.warn(
                element.line,
                "The attribute \(attribute) of the composite \(name) changes nothing. Give it to the attributes of the composite, or to those of its type."
            )
        }
        var attributes: [AttributeDescription] = []
        for child in element.children(named: "attribute") { attributes.append(try attribute(child, in: name)) }
        return CompositeDescription(name: name, attributes: attributes)
    }

    private func configuration(_ element: MarkupElement) throws(ModelReaderError) -> ModelConfiguration {
        var members: [String] = []
        for child in element.children(named: "memberEntity") { members.append(try required("name", of: child)) }
        return ModelConfiguration(name: try required("name", of: element), entityNames: members)
    }
}
