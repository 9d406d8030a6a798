internal import ManagedModel

/// Writes the struct of a composite, with code to read and write the columns of its leaves.
struct CompositeWriter {
    let plan: CompositePlan
    let access: AccessLevel

    private var name: String { Identifier.escaped(plan.name) }
    private var properties: [PropertyPlan] { plan.list.properties }

    func write(to text: inout SourceWriter) {
        writeStruct(to: &text)
        text.line()
        text.block("nonisolated extension \(name) {") { text in
            writeKeyPaths(to: &text)
            text.line()
            writeReading(to: &text)
            text.line()
            writeAbsence(to: &text)
            text.line()
            writeWriting(to: &text)
        }
    }

    private func writeStruct(to text: inout SourceWriter) {
        text.documentation(["The composite `\(plan.composite.name)`."])
        text.block("nonisolated \(access.prefix)struct \(name): CompositeValue, Sendable, Hashable {") { text in
            for property in properties {
                text.documentation(property.notes)
                text.line("\(access.prefix)var \(Identifier.escaped(property.name)): \(property.type.spelling)")
            }
            text.omissions(plan.list.omissions)
            text.line()
            let parameters = properties.map { property in
                let ending = property.type.isOptional ? " = nil" : ""
                return "\(Identifier.escaped(property.name)): \(property.type.spelling)\(ending)"
            }
            text.block("\(access.prefix)init(\(parameters.joined(separator: ", "))) {") { text in
                for property in properties {
                    let name = Identifier.escaped(property.name)
                    text.line("self.\(name) = \(name)")
                }
            }
        }
    }

    /// Writes the key paths that begin at the struct or at an optional struct.
    private func writeKeyPaths(to text: inout SourceWriter) {
        text.block("\(access.prefix)static var partKeyPaths: [AnyKeyPath: String] {") { text in
            if properties.isEmpty { return text.line("[:]") }
            // Do not use a dictionary literal, because a literal with equal keys causes a trap. The key paths of two parts are
            // equal if both parts have the same type, and this type is a struct without stored properties.
            text.line("var paths: [AnyKeyPath: String] = [:]")
            for root in ["\\\(name)", "\\\(name)?.?"] {
                for property in properties {
                    let path = "\(root).\(Identifier.escaped(property.name))"
                    text.line("paths[\(path)] = \(StringLiteral.of(property.attributeName))")
                }
            }
            text.line("return paths")
        }
    }

    private func writeReading(to text: inout SourceWriter) {
        text.line("/// The value, or nil if every leaf is nil.")
        text.block("fileprivate static func read(from object: ManagedObject, at column: Int) -> \(name)? {") { text in
            text.line("isAbsent(from: object, at: column) ? nil : \(name)(reading: object, at: column)")
        }
        text.line()
        text.block("fileprivate init(reading object: ManagedObject, at column: Int) {") { text in
            for property in properties {
                text.line("self.\(Identifier.escaped(property.name)) = \(reading(property))")
            }
        }
    }

    private func writeAbsence(to text: inout SourceWriter) {
        text.block("fileprivate static func isAbsent(from object: ManagedObject, at column: Int) -> Bool {") { text in
            for property in properties { text.line("\(absence(of: property)) else { return false }") }
            text.line("return true")
        }
    }

    private func writeWriting(to text: inout SourceWriter) {
        let opening = "fileprivate static func write(_ value: \(name)?, to object: ManagedObject, at column: Int) {"
        text.block(opening) { text in
            for property in properties where !property.isReadOnly { text.line(writing(property)) }
        }
    }

    private func reading(_ property: PropertyPlan) -> String {
        let column = column(of: property)
        return switch property.type.accessor {
        case .attribute: "object.attribute(at: \(column))"
        case .transformable: "object.transformable(at: \(column))"
        case .composite where property.type.isOptional: "\(property.type.name).read(from: object, at: \(column))"
        case .composite: "\(property.type.name)(reading: object, at: \(column))"
        }
    }

    /// The start of a guard statement. The statement reads a mandatory leaf as an optional, because a read of a type
    /// that is not optional returns zero instead of nil.
    private func absence(of property: PropertyPlan) -> String {
        let column = column(of: property)
        let type = property.type.name
        return switch property.type.accessor {
        case .attribute: "guard (object.attribute(at: \(column)) as \(type)?) == nil"
        case .transformable: "guard (object.transformable(at: \(column)) as \(type)?) == nil"
        case .composite: "guard \(type).isAbsent(from: object, at: \(column))"
        }
    }

    private func writing(_ property: PropertyPlan) -> String {
        let column = column(of: property)
        let leaf = "value?.\(Identifier.escaped(property.name))"
        return switch property.type.accessor {
        case .attribute: "object.setAttribute(\(property.type.stored(leaf, isOptional: true)), at: \(column))"
        case .transformable: "object.setTransformable(\(leaf), at: \(column))"
        case .composite: "\(property.type.name).write(\(leaf), to: object, at: \(column))"
        }
    }

    private func column(of property: PropertyPlan) -> String {
        property.column == 0 ? "column" : "column + \(property.column)"
    }
}
