/// A model that is compiled into a module of an app, for code that knows only its name.
///
/// `ModelPlugin` generates a class for each model; apps use ``ManagedObjectModel`` and need no class of their own.
nonisolated public protocol GeneratedModel: AnyObject {
    /// The model.
    static var model: ManagedObjectModel { get }
}

extension ManagedObjectModel {
    /// The name of the class that is generated for the model with that name. Different models have different classes: a scalar
    /// that is not an ASCII letter or digit becomes its number.
    package static func generatedClassName(forModelNamed name: String) -> String {
        var className = "GeneratedModel_"
        for scalar in name.unicodeScalars {
            if scalar.isASCII, scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                className.unicodeScalars.append(scalar)
            } else {
                className += "_\(String(scalar.value, radix: 16))_"
            }
        }
        return className
    }
}
