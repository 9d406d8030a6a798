internal import ManagedModel

/// Writes the imports that a file needs, with the lowest access level that is enough: an import that is more visible than its
/// uses is a warning.
struct ImportText {
    let plan: ModelPlan
    /// Those of the file.
    let entities: [EntityPlan]
    /// Whether the file has the composites and the model, too.
    let isWhole: Bool
    let access: AccessLevel

    func write(to text: inout SourceText) {
        // A plain import is compatible with any other import of the module, in every mode of the app's target.
        text.line("\(isVisible ? access.prefix : "")import CoreDataSource")
        if isFoundationInDeclarations {
            text.line("\(access.prefix)import Foundation")
        } else if isFoundationInLiteral {
            text.line("import Foundation")
        }
    }

    /// Whether anything of the file that others see needs it.
    private var isVisible: Bool {
        isWhole || entities.contains { $0.className != nil && $0.generation != .manual }
    }

    private var isFoundationInDeclarations: Bool {
        (entities.map(\.list) + (isWhole ? plan.composites.map(\.list) : [])).contains { list in
            list.properties.contains(where: \.type.needsFoundation)
        }
    }

    private var isFoundationInLiteral: Bool {
        let composites = isWhole ? plan.model.composites.flatMap(\.attributes) : []
        let attributes = entities.flatMap(\.entity.attributes) + composites
        return attributes.contains { attribute in
            [attribute.defaultValue, attribute.minimum, attribute.maximum].contains { $0?.needsFoundation == true }
        }
    }
}
